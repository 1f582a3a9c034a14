import { dirname, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { imagePolicyWebhook, parseImagePolicy, type ImagePolicyDependencies } from '../admission/image-policy-webhook';
import type { AdmissionPlugin } from '../admission/plugin';
import { sendRequest } from '../client/https-request';
import { agentFor } from '../client/peer-tls';
import { readJsonAnswer } from '../client/json-answer';
import { followKubeconfig } from '../client/followed-kubeconfig';
import { authorizationHeader, readKubeconfig } from '../client/kubeconfig-file';
import type { Logger } from '../observability/logger';

/** A backend may take this long; less when requests do not have that much time themselves. */
const MAX_BACKEND_MS = 30_000;

interface Backend {
  readonly post: ImagePolicyDependencies['post'];
  readonly close: () => void;
}

/** Sends reviews to the server of a kubeconfig. Throws what is wrong with the file. */
function backendOf(kubeconfig: string): Backend {
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
  return {
    post: async (review, timeoutMs) => {
      const body = JSON.stringify(review);
      const response = await sendRequest({ url, method: 'POST', headers, body, agent, timeoutMs });
      if (response.status < 200 || response.status > 299)
        throw new Error(`Error contacting webhook: ${response.status}`);
      return readJsonAnswer(response.body);
    },
    close: () => agent.destroy(),
  };
}

/** ImagePolicyWebhook with the backend that its configuration names. Throws what is wrong with either. */
export function imagePolicyPlugin(
  configuration: unknown,
  configurationFile: string,
  requestTimeoutMs: number,
  logger: Logger,
): AdmissionPlugin {
  const policy = parseImagePolicy(configuration);
  const kubeconfig = resolve(dirname(configurationFile), policy.backendConfigFile);
  const { current } = followKubeconfig(kubeconfig, () => backendOf(kubeconfig), logger);
  return imagePolicyWebhook(policy, {
    post: (review, timeoutMs) => current().post(review, timeoutMs),
    timeoutMs: Math.min(MAX_BACKEND_MS, requestTimeoutMs / 2),
    now: Date.now,
    sleep: (milliseconds) => delay(milliseconds),
  });
}
