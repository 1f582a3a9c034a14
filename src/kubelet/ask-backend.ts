import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { limitInformational } from '../client/informational-limit';
import type { Backend } from './backend';
import type { BackendRequest, RequestOpener } from './backend-connections';
import { BackendFailure } from './backend-failure';

/** An answer whose body is still to come, or a connection that speaks another protocol from now on. */
export type BackendOutcome =
  | { readonly type: 'answer'; readonly message: IncomingMessage }
  | { readonly type: 'upgraded'; readonly message: IncomingMessage; readonly socket: Socket; readonly head: Buffer };

/** Sends the body of a request, and says when no more of it is wanted. */
export interface BodySource {
  sendTo(request: Writable): void;
}

/** A kept connection may have been closed by the other end just when it was used again. */
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Sends a request to a backend. Rejects with a {@link BackendFailure} when there is no answer. An abort ends the request, and
 * the answer with it, whenever it comes.
 */
export async function askBackend(
  connections: Pick<RequestOpener, 'open'>,
  backend: Backend,
  request: BackendRequest,
  signal: AbortSignal,
  body?: BodySource,
): Promise<BackendOutcome> {
  const mayRepeat = !request.ownConnection && body === undefined && IDEMPOTENT.has(request.method);
  for (let attempt = 1; ; attempt++) {
    const outcome = await attemptOnce(connections, backend, request, signal, body);
    if (outcome.type !== 'failed') return outcome;
    if (!outcome.isStale || !mayRepeat || attempt > MAX_STALE || signal.aborted) throw outcome.failure;
  }
}

/** As many as may be kept to one backend. */
const MAX_STALE = 4;

type Outcome =
  BackendOutcome | { readonly type: 'failed'; readonly failure: BackendFailure; readonly isStale: boolean };

function attemptOnce(
  connections: Pick<RequestOpener, 'open'>,
  backend: Backend,
  options: BackendRequest,
  signal: AbortSignal,
  body: BodySource | undefined,
): Promise<Outcome> {
  return new Promise((resolve) => {
    const request = connections.open(backend, options);
    limitInformational(request);
    const abort = (): void => void request.destroy();
    request.on('close', () => signal.removeEventListener('abort', abort));
    signal.addEventListener('abort', abort, { once: true });
    request.on('response', (message) => {
      // The body's reader learns of its end by `close`.
      message.on('error', ignore);
      resolve({ type: 'answer', message });
    });
    request.on('upgrade', (message, socket: Socket, head) => {
      signal.removeEventListener('abort', abort);
      resolve({ type: 'upgraded', message, socket, head });
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      const isStale = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
      resolve({ type: 'failed', failure: new BackendFailure(error), isStale });
    });
    if (signal.aborted) abort();
    else if (body === undefined) request.end();
    else body.sendTo(request);
  });
}

function ignore(): void {}
