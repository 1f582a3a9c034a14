import { stringifyExact } from '../api/codec/exact-json';
import { setTimeout as delay } from 'node:timers/promises';
import { sendRequest, type HttpsResponse } from './https-request';
import { agentFor } from './peer-tls';
import { authorizationHeader, readKubeconfig } from './kubeconfig-file';
import { readJsonAnswer } from './json-answer';
import { explainEmpty, explainStatus } from './unexpected-status';

/** How long a peer is given, told to it as `?timeout=30s`. */
const TIMEOUT_MS = 30_000;
const MAX_ATTEMPTS = 5;
const FIRST_WAIT_MS = 500;
const WAIT_FACTOR = 1.5;
/** However long a peer asks to wait: a request is waiting, and more with the same question wait with it. */
const LONGEST_WAIT_MS = 10_000;
/** Of the wait, at random, so that replicas do not ask in step. */
const JITTER = 0.2;

/** Asks a remote party with a review object and returns its reply. */
export interface WebhookClient {
  readonly post: (review: object) => Promise<unknown>;
  readonly close: () => void;
}

/**
 * A client for the peer that a kubeconfig file describes (`--authorization-webhook-config-file` and the like). `post`
 * asks up to five times while the peer is overloaded or broken inside, and throws an error that says what it answered.
 */
export function webhookClient(kubeconfigFile: string): WebhookClient {
  const peer = readKubeconfig(kubeconfigFile);
  const target = new URL(peer.url);
  target.searchParams.set('timeout', `${TIMEOUT_MS / 1000}s`);
  const agent = agentFor(peer.tls);
  const authorization = authorizationHeader(peer);
  const headers = {
    Accept: 'application/json, */*',
    'Content-Type': 'application/json',
    ...(authorization === undefined ? {} : { Authorization: authorization }),
  };
  return {
    post: async (review) => {
      const body = stringifyExact(review);
      let wait = FIRST_WAIT_MS;
      for (let attempt = 1; ; attempt++) {
        const response = await sendRequest({
          url: target.href,
          method: 'POST',
          headers,
          body,
          agent,
          timeoutMs: TIMEOUT_MS,
        });
        if (attempt === MAX_ATTEMPTS || !isWorthAnotherTry(response)) return readResponse(response);
        const asked = Math.min((response.retryAfterSeconds ?? 0) * 1000, LONGEST_WAIT_MS);
        await delay(Math.max(asked, wait * (1 + Math.random() * JITTER)));
        wait *= WAIT_FACTOR;
      }
    },
    close: () => agent.destroy(),
  };
}

function isWorthAnotherTry({ status, retryAfterSeconds }: HttpsResponse): boolean {
  return [429, 500, 504].includes(status) || (status >= 400 && retryAfterSeconds !== undefined);
}

async function readResponse({ status, contentType, body }: HttpsResponse): Promise<unknown> {
  if (status < 200 || status > 206) throw new Error(explainStatus(status, body));
  if (body === '') {
    throw new Error(explainEmpty(status, contentType || 'application/json'));
  }
  try {
    return await readJsonAnswer(body);
  } catch (error) {
    throw new Error(`couldn't get version/kind; json parse error: ${(error as Error).message}`, { cause: error });
  }
}
