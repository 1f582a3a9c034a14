import { setTimeout as delay } from 'node:timers/promises';
import { parseYaml } from '../api/codec/yaml';
import { StatusError } from '../api/errors/status-error';
import { parseApiVersion, type ObjectMeta } from '../api/object';
import type { ApiClient } from './api-client';

/** An object that can be sent: what it is and its name are known. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  /** For messages. */
  readonly title: string;
}

interface DiscoveredResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

const DEFINITION = 'CustomResourceDefinition';
const DEFAULT_NAMESPACE = 'default';

/** What comes a moment after something else was created is looked for this often, and no longer than so many times. */
const LOOK_MS = 10;
const LOOKS = 1_000;

/**
 * What is to be created: objects, and texts that are YAML with any number of documents; lists stand for their items. Throws when
 * one of them cannot be sent.
 */
export function readManifests(given: readonly (object | string)[]): readonly Manifest[] {
  return given.flatMap((one, index) => manifestsOf(one, `objects[${index}]`));
}

/**
 * Creates objects of any kinds: definitions first, until they are established, then the others in their order. An object that
 * is there already is changed to be as it is given. Throws with the first that the server refuses.
 */
export async function createObjects(client: ApiClient, manifests: readonly Manifest[]): Promise<void> {
  const resources = new ResourcePaths(client);
  const definitions = manifests.filter(({ kind }) => kind === DEFINITION);
  for (const manifest of definitions) await create(client, resources, manifest);
  for (const manifest of definitions) await untilEstablished(client, resources, manifest);
  for (const manifest of manifests) {
    if (manifest.kind === DEFINITION) continue;
    await create(client, resources, manifest);
    if (manifest.kind === 'Namespace' && manifest.apiVersion === 'v1') await untilUsable(client, manifest);
  }
}

function manifestsOf(given: unknown, title: string): readonly Manifest[] {
  if (typeof given === 'string') {
    const documents = given.split(/^---(?:[ \t].*)?$/m).map((text) => parseYaml(text));
    return documents.filter((one) => one !== null).flatMap((one, index) => manifestsOf(one, `${title}, document ${index + 1}`)); // prettier-ignore
  }
  const { apiVersion, kind, metadata, items } = (given ?? {}) as Partial<Manifest> & { readonly items?: unknown };
  if (typeof apiVersion !== 'string' || typeof kind !== 'string')
    throw new Error(`${title} has no apiVersion or no kind`);
  if (kind.endsWith('List') && Array.isArray(items)) {
    return items.flatMap((item, index) => manifestsOf(item, `${title}.items[${index}]`));
  }
  const name = metadata?.name ?? metadata?.generateName;
  if (metadata === undefined || name === undefined) throw new Error(`${title} (${kind}) has no metadata.name`);
  const { namespace } = metadata;
  const path = namespace === undefined ? name : `${namespace}/${name}`;
  return [{ ...(given as object), apiVersion, kind, metadata, title: `${title} (${kind} ${path})` }];
}

/** Where the objects of a kind are, as discovery says. */
class ResourcePaths {
  readonly #lists = new Map<string, Promise<readonly DiscoveredResource[]>>();

  constructor(private readonly client: ApiClient) {}

  /** Discovery is asked again. */
  forget(): void {
    this.#lists.clear();
  }

  async collectionOf({ apiVersion, kind, metadata }: Manifest): Promise<string> {
    const { group } = parseApiVersion(apiVersion);
    const root = group === '' ? `/api/${apiVersion}` : `/apis/${apiVersion}`;
    const list = await this.#resourcesAt(root);
    const resource = list.find((one) => one.kind === kind && !one.name.includes('/'));
    if (resource === undefined) throw new Error(`no matches for kind "${kind}" in version "${apiVersion}"`);
    const namespace = resource.namespaced ? `/namespaces/${metadata.namespace ?? DEFAULT_NAMESPACE}` : '';
    return `${root}${namespace}/${resource.name}`;
  }

  #resourcesAt(root: string): Promise<readonly DiscoveredResource[]> {
    let list = this.#lists.get(root);
    if (list === undefined) {
      list = this.client.get<{ readonly resources: readonly DiscoveredResource[] }>(root).then(
        ({ resources }) => resources,
        (error: unknown) => {
          if (error instanceof StatusError && error.status.code === 404) return [];
          throw error;
        },
      );
      this.#lists.set(root, list);
    }
    return list;
  }
}

async function create(client: ApiClient, resources: ResourcePaths, manifest: Manifest): Promise<void> {
  const { title, ...object } = manifest;
  try {
    const collection = await resources.collectionOf(manifest);
    await client.create(collection, object).catch((error: unknown) => {
      if (!(error instanceof StatusError) || error.status.reason !== 'AlreadyExists') throw error;
      return client.patch(`${collection}/${manifest.metadata.name}`, 'merge', object);
    });
  } catch (error) {
    throw new Error(`${title}: ${(error as Error).message}`, { cause: error });
  }
}

interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly served: boolean }[];
  };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** Established, and its kind is in discovery. */
async function untilEstablished(client: ApiClient, resources: ResourcePaths, manifest: Manifest): Promise<void> {
  const path = `${await resources.collectionOf(manifest)}/${manifest.metadata.name}`;
  await until(`${manifest.title} is not established`, async () => {
    const { spec, status } = await client.get<Definition>(path);
    if (!status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True')) return false;
    const served = spec.versions.filter((version) => version.served);
    resources.forget();
    const known = await Promise.allSettled(
      served.map(({ name }) =>
        resources.collectionOf({ ...manifest, apiVersion: `${spec.group}/${name}`, kind: spec.names.kind }),
      ),
    );
    return known.every(({ status }) => status === 'fulfilled');
  });
}

/** The namespace has the service account without which its pods are refused. */
async function untilUsable(client: ApiClient, { title, metadata }: Manifest): Promise<void> {
  await until(`${title} has no service account`, () =>
    client.get(`/api/v1/namespaces/${metadata.name}/serviceaccounts/default`).then(
      () => true,
      (error: unknown) => {
        if (error instanceof StatusError && error.status.code === 404) return false;
        throw error;
      },
    ),
  );
}

async function until(problem: string, condition: () => Promise<boolean>): Promise<void> {
  for (let left = LOOKS; !(await condition()); left--) {
    if (left === 0) throw new Error(problem);
    await delay(LOOK_MS);
  }
}
