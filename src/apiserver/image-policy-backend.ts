import { dirname, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { imagePolicyWebhook, parseImagePolicy, type ImagePolicyDependencies } from '../admission/image-policy-webhook';
import type { AdmissionPlugin } from '../admission/plugin';
import { agentFor, sendRequest } from '../client/https-request';
import { authorizationHeader, readKubeconfig } from '../client/kubeconfig-file';

/** A backend may take this long; less when requests do not have that much time themselves. */
const MAX_BACKEND_MS = 30_000;

/** Sends reviews to the server of a kubeconfig. Throws what is wrong with the file. */
function backendOf(kubeconfig: string): ImagePolicyDependencies['post'] {
  const backend = readKubeconfig(kubeconfig);
  const { url } = backend;
  if (!url.startsWith('https:')) throw new Error(`${kubeconfig}: the server must be https`);
  const agent = agentFor(backend.tls);
  const authorization = authorizationHeader(backend);
  const headers = {
    Accept: 'application/json',
    'Content-Type': 'application/json',
    ...(authorization === undefined ? {} : { Authorization: authorization }),
  };
  return async (review, timeoutMs) => {
    const body = JSON.stringify(review);
    const reply = await sendRequest({ url, method: 'POST', headers, body, agent, timeoutMs });
    if (reply.status < 200 || reply.status > 299) throw new Error(`Error contacting webhook: ${reply.status}`);
    return JSON.parse(reply.body) as unknown;
  };
}

/** ImagePolicyWebhook with the backend that its configuration names. Throws what is wrong with either. */
export function imagePolicyPlugin(
  configuration: unknown,
  configurationFile: string,
  requestTimeoutMs: number,
): AdmissionPlugin {
  const policy = parseImagePolicy(configuration);
  return imagePolicyWebhook(policy, {
    post: backendOf(resolve(dirname(configurationFile), policy.backendConfigFile)),
    timeoutMs: Math.min(MAX_BACKEND_MS, requestTimeoutMs / 2),
    now: Date.now,
    sleep: (milliseconds) => delay(milliseconds),
  });
}
