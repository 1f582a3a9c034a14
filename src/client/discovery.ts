import { StatusError } from '../api/errors/status-error';
import { parseApiVersion } from '../api/object';
import type { ApiClient } from './api-client';
import { explainStatus } from './unexpected-status';

/** A resource as discovery tells of it, in one version. */
export interface DiscoveredResource {
  readonly group: string;
  /** `apps/v1`, `v1`. */
  readonly apiVersion: string;
  /** `/apis/apps/v1`, `/api/v1`. */
  readonly root: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

export interface Discovered {
  /** Every resource once, in the version that the server prefers of those that have it; no subresources. */
  readonly preferred: readonly DiscoveredResource[];
  /** By `kindKey`, in every version. */
  readonly byKind: ReadonlyMap<string, DiscoveredResource>;
  /** Groups that could not be asked, with the reason: what they have is not known. */
  readonly failed: ReadonlyMap<string, string>;
}

interface GroupList {
  readonly groups: readonly {
    readonly name: string;
    readonly versions: readonly { readonly groupVersion: string }[];
    readonly preferredVersion?: { readonly groupVersion: string };
  }[];
}

interface ResourceList {
  readonly resources?: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
    readonly verbs: readonly string[];
  }[];
}

/** How many documents are asked for at once. */
const AT_ONCE = 4;

export function kindKey(apiVersion: string, kind: string): string {
  return `${apiVersion} ${kind}`;
}

/** The path of a resource's objects: in a namespace, or of all. */
export function collectionPath({ root, resource }: DiscoveredResource, namespace?: string): string {
  return namespace === undefined ? `${root}/${resource}` : `${root}/namespaces/${namespace}/${resource}`;
}

/** Everything that the server serves. Groups whose own servers do not answer are told apart. Throws when none answers. */
export async function discover(client: ApiClient, signal: AbortSignal): Promise<Discovered> {
  const { groups } = await client.get<GroupList>('/apis', signal);
  const apiVersions = [
    'v1',
    ...groups.flatMap(({ versions, preferredVersion }) => {
      const names = versions.map(({ groupVersion }) => groupVersion);
      return preferredVersion === undefined ? names : [...new Set([preferredVersion.groupVersion, ...names])];
    }),
  ];
  const failed = new Map<string, string>();
  const lists: (readonly DiscoveredResource[])[] = [];
  const ask = async (index: number): Promise<void> => {
    const apiVersion = apiVersions[index];
    if (apiVersion === undefined) return;
    lists[index] = await resourcesOf(client, apiVersion, failed, signal);
    return ask(index + AT_ONCE);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => ask(index)));
  const all = lists.flat();
  const preferred = new Map<string, DiscoveredResource>();
  for (const one of all) {
    const id = `${one.resource}.${one.group}`;
    if (!preferred.has(id)) preferred.set(id, one);
  }
  return {
    preferred: [...preferred.values()],
    byKind: new Map(all.map((one) => [kindKey(one.apiVersion, one.kind), one])),
    failed,
  };
}

/** A server behind this one that is down is told of in plain text. */
function reasonOf(error: unknown): string {
  const { message } = error as Error;
  const isText = error instanceof StatusError && error.status.reason === undefined;
  return isText ? explainStatus(error.status.code ?? 0, message) : message;
}

async function resourcesOf(
  client: ApiClient,
  apiVersion: string,
  failed: Map<string, string>,
  signal: AbortSignal,
): Promise<readonly DiscoveredResource[]> {
  const { group } = parseApiVersion(apiVersion);
  const root = group === '' ? `/api/${apiVersion}` : `/apis/${apiVersion}`;
  try {
    const { resources = [] } = await client.get<ResourceList>(root, signal);
    return resources
      .filter(({ name }) => !name.includes('/'))
      .map(({ name, kind, namespaced, verbs }) => ({
        group,
        apiVersion,
        root,
        resource: name,
        kind,
        namespaced,
        verbs,
      }));
  } catch (error) {
    // It went away between two questions.
    if (error instanceof StatusError && error.status.code === 404) return [];
    if (signal.aborted || group === '') throw error;
    const known = failed.get(group);
    const reason = `${apiVersion}: ${reasonOf(error)}`;
    failed.set(group, known === undefined ? reason : `${known}, ${reason}`);
    return [];
  }
}
