import { askBackend } from './ask-backend';
import { askOverHttp2, type Asker, type BackendAnswer } from './ask-over-http2';
import { hostPortOf, type Backend } from './backend';
import type { BackendConnections } from './backend-connections';

export interface KubeletRequest {
  /** With its query. */
  readonly path: string;
  /** Whoever asks leaves before the answer's end. */
  readonly isEndless: boolean;
}

/**
 * Sends a GET to a kubelet. Over HTTP/2, so that a thousand logs that are followed take ten connections; over HTTP/1.1 where that is all
 * it speaks. Rejects with a BackendFailure when there is no answer. An abort ends the request, and the answer with it.
 */
export async function askKubelet(
  connections: BackendConnections,
  kubelet: Backend,
  { path, isEndless }: KubeletRequest,
  asker: Asker,
): Promise<BackendAnswer> {
  const answer = await askOverHttp2(connections.http2With(kubelet.trust), kubelet, path, asker);
  if (answer !== undefined) return answer;
  // Nothing else could use the connection of an endless answer: one of its own takes less memory.
  const request = { method: 'GET', path, headers: { host: hostPortOf(kubelet) }, ownConnection: isEndless };
  const { message } = await askBackend(connections, kubelet, request, asker.signal);
  return { statusCode: message.statusCode ?? 0, location: message.headers.location, body: message };
}
