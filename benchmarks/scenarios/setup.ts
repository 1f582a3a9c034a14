import type { Target } from '../load/job';
import type { LoadClient } from '../load/load-client';
import type { Context } from './scenario';
import { HOG, USER } from '../servers/credentials';
import { NAMESPACE, SCALE_NAMESPACE, WRITE_NAMESPACE, collectionPath, configMap } from './objects';

export const JSON_BODY = { 'Content-Type': 'application/json' };
/** One object in so many carries the label that the list by selector asks for. */
export const LABELLED_SHARE = 10;

type SetUpContext = Pick<Context, 'load' | 'server' | 'options'>;

interface Filling extends Pick<Context, 'load' | 'server'> {
  readonly namespace: string;
  readonly count: number;
  readonly bytes: number;
}

interface ObjectList {
  readonly items: readonly unknown[];
  readonly metadata: { readonly remainingItemCount?: number };
}

/** Rights, namespaces and the objects that are read; what is there already stays. */
export async function setUp(context: SetUpContext): Promise<void> {
  const { load, server, options } = context;
  await setUpEmpty(context);
  await fill({ load, server, namespace: NAMESPACE, count: options.objects, bytes: options.bytes });
}

/** Without the objects. */
export async function setUpEmpty({ load, server }: SetUpContext): Promise<void> {
  await createRights(load, server.admin);
  for (const namespace of [NAMESPACE, WRITE_NAMESPACE, SCALE_NAMESPACE]) {
    const body = JSON.stringify({ kind: 'Namespace', apiVersion: 'v1', metadata: { name: namespace } });
    await create(load, server.admin, '/api/v1/namespaces', body);
  }
}

async function createRights(load: LoadClient, admin: Target): Promise<void> {
  const path = '/apis/rbac.authorization.k8s.io/v1';
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const rules = [
    { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
    { apiGroups: [''], resources: ['configmaps'], verbs: ['*'] },
    { nonResourceURLs: ['/readyz'], verbs: ['get'] },
  ];
  const metadata = { name: 'bench' };
  const role = { kind: 'ClusterRole', apiVersion, metadata, rules };
  const binding = {
    kind: 'ClusterRoleBinding',
    apiVersion,
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'bench' },
    subjects: [USER, HOG].map((name) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name })),
  };
  await create(load, admin, `${path}/clusterroles`, JSON.stringify(role));
  await create(load, admin, `${path}/clusterrolebindings`, JSON.stringify(binding));
}

export async function create(load: LoadClient, target: Target, path: string, body: string): Promise<void> {
  const { status } = await load.once(target, { method: 'POST', path, headers: JSON_BODY, body });
  if (status !== 201 && status !== 409) throw new Error(`POST ${path}: status ${status}`);
}

/** Fills a namespace up to `count` objects, `cm-0-0` and so on: the first number is the label. */
export async function fill({ load, server, namespace, count, bytes }: Filling): Promise<void> {
  const path = collectionPath(namespace);
  const first = await load.once(server.admin, { method: 'GET', path: `${path}?limit=1` });
  const list = JSON.parse(first.body.toString('utf8')) as ObjectList;
  const there = list.items.length + (list.metadata.remainingItemCount ?? 0);
  if (there === count) return;
  if (there !== 0) throw new Error(`${namespace} holds ${there} objects, ${count} or none were expected`);
  for (let residue = 0; residue < LABELLED_SHARE; residue++) {
    const name = `cm-${residue}-{n}`;
    const body = configMap(namespace, name, bytes, { labels: { tenth: `t${residue}` } });
    await load.run({
      target: server.admin,
      request: { method: 'POST', path, headers: JSON_BODY, body },
      clients: 32,
      maxRequests: Math.ceil((count - residue) / LABELLED_SHARE),
      maxMs: 300_000,
      status: 201,
    });
  }
}
