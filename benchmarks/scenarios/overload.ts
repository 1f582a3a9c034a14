import type { Context, Scenario } from './scenario';
import { NAMESPACE, SCALE_NAMESPACE, collectionPath } from './objects';
import { HOG_TOKEN } from '../servers/credentials';
import type { LoadRequest, Target } from '../load/job';
import { create, fill } from './setup';

/** Of the client that takes all it can get. */
const CONNECTIONS = 200;
const OBJECTS = 10_000;
/** How long the others go on beside it; it begins before them and ends after them. */
const BESIDE_MS = 1_000;
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const PATCH = { 'Content-Type': 'application/merge-patch+json' };

/** The slowest hundredth of some requests, while another user lists everything over many connections as fast as it can. */
type Asked = LoadRequest & { readonly target?: Target };

const besideLists = (id: string, title: string, requestOf: (context: Context) => Asked | Promise<Asked>): Scenario => ({
  id: `overload-${id}`,
  title: `${title}, p99 while ${CONNECTIONS} connections list ${OBJECTS} objects`,
  unit: 'ms',
  better: 'lower',
  run: async (context) => {
    const { load, listLoad, server, options } = context;
    const count = Math.min(OBJECTS, options.scaleObjects);
    await fill({ load, server, namespace: SCALE_NAMESPACE, count, bytes: options.bytes });
    const { target = server.target, ...request } = await requestOf(context);
    const lists = listLoad.run({
      target: { ...server.target, token: HOG_TOKEN },
      request: { method: 'GET', path: `${collectionPath(SCALE_NAMESPACE)}?resourceVersion=0` },
      clients: CONNECTIONS,
      maxMs: options.seconds * 1000 + 2 * BESIDE_MS,
      // It may be told to come again.
      status: [200, 429],
    });
    await new Promise((resolve) => setTimeout(resolve, BESIDE_MS));
    const [beside, listed] = await Promise.all([
      load.run({ target, request, clients: 4, maxMs: options.seconds * 1000, status: 200 }),
      lists,
    ]);
    process.stderr.write(`  (${listed.perSecond.toFixed(1)} lists/s beside)\n`);
    return { value: beside.p99, p50: beside.p50, p99: beside.p99 };
  },
});

/** A node agent renews its lease. */
async function renewal({ load, server }: Context): Promise<Asked> {
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'bench' } };
  await create(load, server.admin, LEASES, JSON.stringify(lease));
  const body = JSON.stringify({ spec: { holderIdentity: 'bench', leaseDurationSeconds: 40 } });
  return { target: server.node, method: 'PATCH', path: `${LEASES}/bench`, headers: PATCH, body };
}

export const scenarios: readonly Scenario[] = [
  besideLists('get', 'GET of another user', () => ({
    method: 'GET',
    path: `${collectionPath(NAMESPACE)}/cm-0-1`,
  })),
  besideLists('lease', 'renewal of a lease', renewal),
  besideLists('health', '/readyz', () => ({ method: 'GET', path: '/readyz' })),
];
