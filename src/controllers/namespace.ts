import type { KubeObject } from '../api/object';
import { formatDate } from '../api/time/rfc3339';
import type { ApiClient, ListOf } from '../client/api-client';
import { collectionPath, discover, type DiscoveredResource } from '../client/discovery';
import { isStatus, startController, type Controller, type ControllerParts } from './controller';

/** What is left of a namespace after a pass. */
interface Remaining {
  readonly resources: ReadonlyMap<string, number>;
  readonly finalizers: ReadonlyMap<string, number>;
  readonly failures: readonly string[];
  /** Versions of groups that did not say what they have, each with the reason. */
  readonly undiscovered: readonly string[];
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
  const { undiscovered } = remaining;
  return [
    condition(
      'NamespaceDeletionDiscoveryFailure',
      undiscovered.length > 0,
      'DiscoveryFailed',
      `Discovery failed for some groups, ${undiscovered.length} failing: unable to retrieve the complete list of server APIs: ${undiscovered.join(', ')}`,
      'All resources successfully discovered',
      'ResourcesDiscovered',
    ),
    condition(
      'NamespaceDeletionGroupVersionParsingFailure',
      false,
      'GroupVersionParsingFailed',
      '',
      'All legacy kube types successfully parsed',
      'ParsedGroupVersions',
    ),
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
    const showRemaining = (name: string, remaining: Remaining): Promise<unknown> =>
      client.patch(
        `/api/v1/namespaces/${name}/status`,
        'merge',
        { status: { conditions: conditionsOf(remaining) } },
        signal,
      );
    follow({
      path: '/api/v1/namespaces',
      representation: 'metadata',
      keep: ({ metadata: { name = '', resourceVersion = '' } }) => ({ metadata: { name, resourceVersion } }),
      changed: ({ metadata: { name = '', deletionTimestamp } }) => {
        if (deletionTimestamp != null) queue.add(name);
      },
    });
    return async (name) => {
      const namespace = await getOrUndefined(client, `/api/v1/namespaces/${name}`, signal);
      if (namespace?.metadata.deletionTimestamp == null) return;
      const spec = (namespace.spec ?? {}) as { readonly finalizers?: readonly string[] };
      if (!(spec.finalizers ?? []).includes(FINALIZER)) return;
      const remaining = await emptyNamespace(client, name, signal);
      if (remaining.resources.size > 0 || remaining.failures.length > 0 || remaining.undiscovered.length > 0) {
        await showRemaining(name, remaining);
        queue.addAfter(name, RECHECK_MS);
        return;
      }
      await client.update(
        `/api/v1/namespaces/${name}/finalize`,
        { ...namespace, spec: { ...spec, finalizers: (spec.finalizers ?? []).filter((one) => one !== FINALIZER) } },
        signal,
      );
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
