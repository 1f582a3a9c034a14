import type { Endpoint } from '../dependencies';
import { bindPod } from './binding';
import { evictPod } from './eviction';

/** Endpoints of the server's own that are not plain storage; others are handed in when the server is composed. */
export const specialEndpoints: ReadonlyMap<string, Endpoint> = new Map([
  ['create /pods/binding', bindPod],
  ['create /bindings', bindPod],
  ['create /pods/eviction', evictPod],
]);
