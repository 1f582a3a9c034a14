import { request as httpsRequest, type Agent } from 'node:https';
import { request as httpRequest } from 'node:http';
import { limitInformational } from './informational-limit';
import { describeNetworkError } from './network-error';

export interface HttpsRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly agent?: Agent;
  readonly timeoutMs: number;
}

export interface HttpsResponse {
  readonly status: number;
  readonly contentType: string;
  /** Seconds that the peer asks to wait. */
  readonly retryAfterSeconds: number | undefined;
  readonly body: string;
}

/** Bytes of an answer; more is not read. */
const MAX_BODY_BYTES = 1024 * 1024;

/** One request and its whole answer. Rejects when there is none in time, in the words of Go's clients. */
export function sendRequest({ url, method, headers, body, agent, timeoutMs }: HttpsRequest): Promise<HttpsResponse> {
  const fail = (error: NodeJS.ErrnoException): Error => {
    const verb = `${method[0] ?? ''}${method.slice(1).toLowerCase()}`;
    return new Error(`${verb} ${JSON.stringify(url)}: ${describeNetworkError(error)}`, { cause: error });
  };
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    const request = send(
      new URL(url),
      {
        method,
        ...(agent !== undefined && url.startsWith('https:') ? { agent } : {}),
        signal,
        headers: { ...headers, ...(body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) }) },
      },
      (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size > MAX_BODY_BYTES) request.destroy(new Error('the answer is too large'));
          else chunks.push(chunk);
        });
        response.on('error', (error) => reject(fail(error)));
        response.on('end', () => {
          const retryAfter = response.headers['retry-after'];
          resolve({
            status: response.statusCode ?? 0,
            contentType: response.headers['content-type'] ?? '',
            retryAfterSeconds: retryAfter !== undefined && /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined,
            body: Buffer.concat(chunks).toString('utf8'),
          });
        });
      },
    );
    // HTTP/1.1 keeps connections without being told.
    request.removeHeader('Connection');
    limitInformational(request);
    request.on('error', (error) => reject(fail(error)));
    request.end(body);
  });
}
