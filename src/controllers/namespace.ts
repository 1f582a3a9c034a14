import { StatusError } from '../api/errors/status-error';
import type { KubeObject } from '../api/object';
import { formatDate } from '../api/time/rfc3339';
import type { ApiClient, ListOf } from '../client/api-client';
import { runInformer } from '../client/informer';
import type { Logger } from '../observability/logger';
import type { Controller } from './controller';
import { WorkQueue } from '../async/work-queue';

interface ApiResource {
  readonly name: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

interface Deletable {
  /** `/apis/apps/v1` or `/api/v1`. */
  readonly root: string;
  readonly resource: string;
  readonly group: string;
}

/** What is left of a namespace after a pass. */
interface Remaining {
  readonly resources: ReadonlyMap<string, number>;
  readonly finalizers: ReadonlyMap<string, number>;
  readonly failures: readonly string[];
}

const FINALIZER = 'kubernetes';
/** How soon a namespace with content that is still terminating is looked at again. */
const RECHECK_MS = 500;

function condition(
  type: string,
  active: boolean,
  reason: string,
  bad: string,
  good: string,
  goodReason: string,
): object {
  return {
    type,
    status: active ? 'True' : 'False',
    lastTransitionTime: formatDate(new Date()),
    reason: active ? reason : goodReason,
    message: active ? bad : good,
  };
}

function counted(counts: ReadonlyMap<string, number>, what: string): string {
  return [...counts].map(([name, count]) => `${name} has ${count} ${what}`).join(', ');
}

/** The conditions that tell a user why a namespace is still there (API reference, NamespaceCondition). */
function conditionsOf(remaining: Remaining): object[] {
  return [
    condition(
      'NamespaceDeletionContentFailure',
      remaining.failures.length > 0,
      'ContentDeletionFailed',
      `Failed to delete all resource types, ${remaining.failures.length} remaining: ${remaining.failures.join(', ')}`,
      'All content successfully deleted, may be waiting on finalization',
      'ContentDeleted',
    ),
    condition(
      'NamespaceContentRemaining',
      remaining.resources.size > 0,
      'SomeResourcesRemain',
      `Some resources are remaining: ${counted(remaining.resources, 'resource instances')}`,
      'All content successfully removed',
      'ContentRemoved',
    ),
    condition(
      'NamespaceFinalizersRemaining',
      remaining.finalizers.size > 0,
      'SomeFinalizersRemain',
      `Some content in the namespace has finalizers remaining: ${counted(remaining.finalizers, 'in resource instances')}`,
      'All content-preserving finalizers finished',
      'ContentHasNoFinalizers',
    ),
  ];
}

async function discoverDeletable(client: ApiClient, signal: AbortSignal): Promise<readonly Deletable[]> {
  const groups = await client.get<{ groups: readonly { name: string; preferredVersion: { groupVersion: string } }[] }>(
    '/apis',
    signal,
  );
  const roots = [
    { group: '', root: '/api/v1' },
    ...groups.groups.map(({ name, preferredVersion }) => ({
      group: name,
      root: `/apis/${preferredVersion.groupVersion}`,
    })),
  ];
  const lists = await Promise.all(
    roots.map(async ({ group, root }) => {
      const { resources } = await client.get<{ resources: readonly ApiResource[] }>(root, signal);
      return resources
        .filter(({ name, namespaced, verbs }) => namespaced && !name.includes('/') && verbs.includes('delete'))
        .filter(({ verbs }) => verbs.includes('list'))
        .map(({ name }) => ({ group, root, resource: name }));
    }),
  );
  return lists.flat();
}

async function deleteContent(
  client: ApiClient,
  namespace: string,
  deletables: readonly Deletable[],
  signal: AbortSignal,
): Promise<Remaining> {
  const resources = new Map<string, number>();
  const finalizers = new Map<string, number>();
  const failures: string[] = [];
  for (const { root, resource, group } of deletables) {
    const path = `${root}/namespaces/${namespace}/${resource}`;
    const label = group === '' ? `${resource}.` : `${resource}.${group}`;
    try {
      const before = await client.get<ListOf>(`${path}?limit=1`, signal);
      if (before.items.length === 0) continue;
      await client.deleteCollection(path, { propagationPolicy: 'Background' }, signal);
      let count = 0;
      for await (const { items } of client.pages(path, signal)) {
        count += items.length;
        for (const finalizer of items.flatMap(({ metadata }) => metadata.finalizers ?? [])) {
          finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
        }
      }
      if (count > 0) resources.set(label, count);
    } catch (error) {
      if (error instanceof StatusError && [404, 405].includes(error.status.code)) continue;
      failures.push(`${label}: ${(error as Error).message}`);
    }
  }
  return { resources, finalizers, failures };
}

/**
 * Empties namespaces that are being deleted and then lets them go: deletes every namespaced resource (pods first, so
 * that nothing runs without the policies around it), and removes the `kubernetes` finalizer once nothing is left.
 */
export function startNamespaceController(client: ApiClient, logger: Logger): Controller {
  const stop = new AbortController();
  const { signal } = stop;

  const sync = async (name: string): Promise<void> => {
    const namespace = await getOrUndefined(client, `/api/v1/namespaces/${name}`, signal);
    if (namespace?.metadata.deletionTimestamp == null) return;
    const spec = (namespace.spec ?? {}) as { readonly finalizers?: readonly string[] };
    if (!(spec.finalizers ?? []).includes(FINALIZER)) return;
    const deletables = await discoverDeletable(client, signal);
    const isPods = ({ group, resource }: Deletable): boolean => group === '' && resource === 'pods';
    let remaining = await deleteContent(client, name, deletables.filter(isPods), signal);
    if (remaining.resources.size === 0 && remaining.failures.length === 0) {
      remaining = await deleteContent(
        client,
        name,
        deletables.filter((deletable) => !isPods(deletable)),
        signal,
      );
    }
    if (remaining.resources.size > 0 || remaining.failures.length > 0) {
      await client.patch(
        `/api/v1/namespaces/${name}/status`,
        'merge',
        { status: { conditions: conditionsOf(remaining) } },
        signal,
      );
      queue.addAfter(name, RECHECK_MS);
      return;
    }
    await client.update(
      `/api/v1/namespaces/${name}/finalize`,
      { ...namespace, spec: { ...spec, finalizers: (spec.finalizers ?? []).filter((one) => one !== FINALIZER) } },
      signal,
    );
  };

  const queue = new WorkQueue(sync, (name, error) => {
    if (!signal.aborted) logger.warn({ namespace: name, err: error }, 'deleting the content of a namespace failed');
  });
  const informer = runInformer(
    client,
    '/api/v1/namespaces',
    {
      changed: (namespace) => {
        if (namespace.metadata.deletionTimestamp != null) queue.add(namespace.metadata.name ?? '');
      },
      deleted: () => undefined,
      failed: (error) => logger.warn({ err: error }, 'watching namespaces failed'),
    },
    signal,
  );
  return {
    name: 'namespace',
    close: async () => {
      stop.abort();
      await informer;
      await queue.close();
    },
  };
}

async function getOrUndefined(client: ApiClient, path: string, signal: AbortSignal): Promise<KubeObject | undefined> {
  try {
    return await client.get(path, signal);
  } catch (error) {
    if (error instanceof StatusError && error.status.code === 404) return undefined;
    throw error;
  }
}
