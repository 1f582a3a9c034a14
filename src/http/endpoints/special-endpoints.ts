import type { Endpoint } from './endpoint';
import { bindPod } from './binding';
import { attachToContainer, execInContainer, forwardPorts, proxyTo } from './connect';
import { evictPod } from './eviction';
import { updateEphemeralContainers } from './ephemeral-containers';
import { podLog } from './pod-log';
import { findNodeTarget, findPodTarget, findServiceTarget } from './proxy-target';

/** OPTIONS has no verb. */
const PROXIED_VERBS = ['get', 'create', 'update', 'patch', 'delete', ''];
const STREAM_VERBS = ['get', 'create'];

function forVerbs(
  verbs: readonly string[],
  path: string,
  endpoint: Endpoint,
): readonly (readonly [string, Endpoint])[] {
  return verbs.map((verb) => [`${verb} ${path}`, endpoint]);
}

/** Endpoints of the server's own that are not plain storage; others are handed in when the server is composed. */
export const specialEndpoints: ReadonlyMap<string, Endpoint> = new Map([
  ['create /pods/binding', bindPod],
  ['create /bindings', bindPod],
  ['create /pods/eviction', evictPod],
  ['update /pods/ephemeralcontainers', updateEphemeralContainers],
  ['get /pods/log', podLog],
  ...forVerbs(STREAM_VERBS, '/pods/exec', execInContainer),
  ...forVerbs(STREAM_VERBS, '/pods/attach', attachToContainer),
  ...forVerbs(STREAM_VERBS, '/pods/portforward', forwardPorts),
  ...forVerbs(PROXIED_VERBS, '/pods/proxy', proxyTo(findPodTarget)),
  ...forVerbs(PROXIED_VERBS, '/services/proxy', proxyTo(findServiceTarget)),
  ...forVerbs(PROXIED_VERBS, '/nodes/proxy', proxyTo(findNodeTarget)),
]);
