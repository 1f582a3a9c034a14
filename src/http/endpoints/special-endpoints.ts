import type { Endpoint } from './endpoint';
import { bindPod } from './binding';
import { forwardPorts, proxyTo, streamContainer } from './connect';
import { evictPod } from './eviction';
import { updateEphemeralContainers } from './ephemeral-containers';
import { podLog } from './pod-log';
import { checkNodeTarget, checkPodTarget, checkServiceTarget } from './proxy-target';

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
  ...forVerbs(STREAM_VERBS, '/pods/exec', streamContainer),
  ...forVerbs(STREAM_VERBS, '/pods/attach', streamContainer),
  ...forVerbs(STREAM_VERBS, '/pods/portforward', forwardPorts),
  ...forVerbs(PROXIED_VERBS, '/pods/proxy', proxyTo(checkPodTarget)),
  ...forVerbs(PROXIED_VERBS, '/services/proxy', proxyTo(checkServiceTarget)),
  ...forVerbs(PROXIED_VERBS, '/nodes/proxy', proxyTo(checkNodeTarget)),
]);
