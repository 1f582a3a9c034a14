import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../api/object';
import { formatDate } from '../api/time/rfc3339';
import { BackOff } from '../async/back-off';
import type { ApiClient, ListOf } from '../client/api-client';
import { collectionPath, discover, type DiscoveredResource } from '../client/discovery';
import { isStatus, startController, type Controller, type ControllerParts } from './controller';
import { conditionsOf, type Condition, type Remaining } from './namespace-conditions';

const FINALIZER = 'kubernetes';
/** How soon a namespace with content that is still terminating is looked at again; later, the longer nothing changes. */
const RECHECKS = { first: 500, factor: 2, longest: 8_000 };

/** What a group has that does not answer is not known: its objects may be left. */
async function discoverDeletable(
  client: ApiClient,
  signal: AbortSignal,
): Promise<{ readonly resources: readonly DiscoveredResource[]; readonly undiscovered: readonly string[] }> {
  const { preferred, failed } = await discover(client, signal);
  return {
    resources: preferred.filter(
      ({ namespaced, verbs }) => namespaced && verbs.includes('delete') && verbs.includes('list'),
    ),
    undiscovered: [...failed.values()],
  };
}

/** What is left of the content. */
async function deleteContent(
  client: ApiClient,
  namespace: string,
  deletables: readonly DiscoveredResource[],
  signal: AbortSignal,
): Promise<Omit<Remaining, 'undiscovered'>> {
  const resources = new Map<string, number>();
  const finalizers = new Map<string, number>();
  const failures: string[] = [];
  for (const deletable of deletables) {
    const { resource, group } = deletable;
    const path = collectionPath(deletable, namespace);
    const label = group === '' ? `${resource}.` : `${resource}.${group}`;
    try {
      const before = await client.get<ListOf>(`${path}?limit=1`, signal);
      if (before.items.length === 0) continue;
      await client.deleteCollection(path, { propagationPolicy: 'Background' }, signal);
      let count = 0;
      for await (const { items } of client.pages(path, signal, 'metadata')) {
        count += items.length;
        for (const finalizer of items.flatMap(({ metadata }) => metadata.finalizers ?? [])) {
          finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
        }
      }
      if (count > 0) resources.set(label, count);
    } catch (error) {
      if (isStatus(error, 404, 405)) continue;
      failures.push(`${label}: ${(error as Error).message}`);
    }
  }
  return { resources, finalizers, failures };
}

/**
 * Empties namespaces that are being deleted and then lets them go: deletes every namespaced resource (pods first, so
 * that nothing runs without the policies around it), and removes the `kubernetes` finalizer once nothing is left.
 */
export function startNamespaceController(parts: ControllerParts): Controller {
  return startController('namespace', parts, ({ client, signal, queue, follow }) => {
    const backOffs = new Map<string, BackOff>();
    /** The namespace with what is left of it. */
    const showRemaining = async (namespace: KubeObject, remaining: Remaining): Promise<KubeObject> => {
      const shown = ((namespace.status ?? {}) as { readonly conditions?: readonly Condition[] }).conditions ?? [];
      const conditions = conditionsOf(remaining, shown, formatDate(new Date()));
      if (isDeepStrictEqual(shown, conditions)) return namespace;
      backOffs.delete(namespace.metadata.name ?? '');
      const path = `/api/v1/namespaces/${namespace.metadata.name ?? ''}/status`;
      return client.patch(path, 'merge', { status: { conditions } }, signal);
    };
    const lookAgain = (name: string): void => {
      const backOff = backOffs.get(name) ?? new BackOff(RECHECKS);
      backOffs.set(name, backOff);
      queue.addAfter(name, backOff.next());
    };
    follow({
      path: '/api/v1/namespaces',
      representation: 'metadata',
      keep: ({ metadata: { name = '', resourceVersion = '' } }) => ({ metadata: { name, resourceVersion } }),
      changed: ({ metadata: { name = '', deletionTimestamp } }) => {
        if (deletionTimestamp != null) queue.add(name);
      },
      deleted: ({ metadata: { name = '' } }) => backOffs.delete(name),
    });
    return async (name) => {
      const namespace = await getOrUndefined(client, `/api/v1/namespaces/${name}`, signal);
      if (namespace?.metadata.deletionTimestamp == null) return;
      const { finalizers = [] } = (namespace.spec ?? {}) as { readonly finalizers?: readonly string[] };
      if (!finalizers.includes(FINALIZER)) return;
      const remaining = await emptyNamespace(client, name, signal);
      const shown = await showRemaining(namespace, remaining);
      if (remaining.resources.size > 0 || remaining.failures.length > 0 || remaining.undiscovered.length > 0) {
        return lookAgain(name);
      }
      const spec = { ...(shown.spec as object), finalizers: finalizers.filter((one) => one !== FINALIZER) };
      await client.update(`/api/v1/namespaces/${name}/finalize`, { ...shown, spec }, signal);
    };
  });
}

async function emptyNamespace(client: ApiClient, name: string, signal: AbortSignal): Promise<Remaining> {
  const { resources, undiscovered } = await discoverDeletable(client, signal);
  const isPods = ({ group, resource }: DiscoveredResource): boolean => group === '' && resource === 'pods';
  const pods = await deleteContent(client, name, resources.filter(isPods), signal);
  if (pods.resources.size > 0 || pods.failures.length > 0) return { ...pods, undiscovered };
  const others = resources.filter((one) => !isPods(one));
  const remaining = await deleteContent(client, name, others, signal);
  return { ...remaining, undiscovered };
}

async function getOrUndefined(client: ApiClient, path: string, signal: AbortSignal): Promise<KubeObject | undefined> {
  try {
    return await client.get(path, signal);
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
}
