import type { KubeObject } from '../../api/object';
import type { RegistryOperations } from '../../resources/served-resource';
import type { CacheEntry } from '../../storage/cache/cache';
import type { RequestContext } from '../request/context';

/**
 * The object that an endpoint has to look into. A large one is parsed a part at a time: a pod of 15,000 containers would take 50 ms.
 * Rejects when the client does not wait any more.
 */
export async function objectOf(entry: CacheEntry, context: RequestContext): Promise<KubeObject> {
  const parsing = entry.prepare();
  // Without a place among large requests, which a stream would keep: what is parsed is the cache's.
  if (parsing !== undefined) await context.takeSteps(parsing);
  return entry.object;
}

/** An object that is not what the request is about. Throws a 404 as well. */
export async function readObject(
  registry: RegistryOperations,
  scope: { readonly namespace: string },
  name: string,
  context: RequestContext,
): Promise<KubeObject> {
  return objectOf(await registry.get(scope, name, {}, context.signal), context);
}
