import { dirname, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { imagePolicyWebhook, parseImagePolicy, type ImagePolicyDependencies } from '../admission/image-policy-webhook';
import type { AdmissionPlugin } from '../admission/plugin';
import { agentFor, sendRequest } from '../client/https-request';
import { readKubeconfig } from '../client/kubeconfig-file';

/** A backend may take this long; less when requests do not have that much time themselves. */
const MAX_BACKEND_MS = 30_000;

/** Sends reviews to the server of a kubeconfig. Throws what is wrong with the file. */
function backendOf(kubeconfig: string): ImagePolicyDependencies['post'] {
  const { url, tls, bearerToken, basic } = readKubeconfig(kubeconfig);
  if (!url.startsWith('https:')) throw new Error(`${kubeconfig}: the server must be https`);
  const agent = agentFor(tls);
  const credentials = basic === undefined ? '' : Buffer.from(`${basic.username}:${basic.password}`).toString('base64');
  const headers = {
    Accept: 'application/json',
    'Content-Type': 'application/json',
    ...(credentials === '' ? {} : { Authorization: `Basic ${credentials}` }),
    ...(bearerToken === undefined ? {} : { Authorization: `Bearer ${bearerToken}` }),
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
