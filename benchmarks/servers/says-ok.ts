import type { ClientRequest, IncomingMessage } from 'node:http';

/** Whether a server's response is 200: what `get` asks, by `http.get` or `https.get`. Rejects when there is no connection. */
export function saysOk(get: (onResponse: (response: IncomingMessage) => void) => ClientRequest): Promise<boolean> {
  return new Promise((resolve, reject) => {
    get((response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on('error', reject);
  });
}
