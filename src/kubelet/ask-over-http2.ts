import { constants, type ClientHttp2Stream } from 'node:http2';
import type { Readable } from 'node:stream';
import { turnToBegin } from '../async/turn';
import type { Work } from '../async/loop-work';
import { limitInformational } from '../client/informational-limit';
import { hostPortOf, type Backend } from './backend';
import { BackendFailure } from './backend-failure';
import { connectionReset, type Http2Connections, type Http2Place } from './http2-connections';

/** An answer whose body is still to come, whichever protocol it came by. */
export interface BackendAnswer {
  readonly statusCode: number;
  readonly location: string | undefined;
  readonly body: Readable;
}

/** Whoever asks. */
export interface Asker extends Work {
  readonly signal: AbortSignal;
}

/** A kept connection may have been closed by the other end just when it was used again. */
const MOST_ATTEMPTS = 4;

/**
 * Sends a GET over a connection that others share. Undefined when the backend speaks HTTP/1.1 only. Rejects with a {@link BackendFailure}
 * when there is no answer. An abort ends the request, and the answer with it, whenever it comes.
 */
export async function askOverHttp2(
  connections: Http2Connections,
  backend: Backend,
  path: string,
  asker: Asker,
): Promise<BackendAnswer | undefined> {
  for (let attempt = 1; ; attempt++) {
    const place = await connections.enter(backend).catch((error: Error) => {
      throw new BackendFailure(error);
    });
    if (place === undefined) return undefined;
    // Many may have waited for the same connection.
    await turnToBegin(asker);
    try {
      return await send(place, backend, path, asker.signal);
    } catch (error) {
      const isStale = place.isReused && place.session.closed;
      if (!isStale || attempt === MOST_ATTEMPTS || asker.signal.aborted) throw new BackendFailure(error as Error);
    }
  }
}

async function send(place: Http2Place, backend: Backend, path: string, signal: AbortSignal): Promise<BackendAnswer> {
  let stream: ClientHttp2Stream;
  try {
    signal.throwIfAborted();
    stream = place.session.request({ ':path': path, ':authority': hostPortOf(backend) });
  } catch (error) {
    // Or the connection has ended since.
    place.leave();
    throw error;
  }
  return answerOf(stream, place.leave, signal);
}

/** Calls `leave` when the answer is over, or was none. */
function answerOf(stream: ClientHttp2Stream, leave: () => void, signal: AbortSignal): Promise<BackendAnswer> {
  return new Promise((resolve, reject) => {
    const abort = (): void => stream.close(constants.NGHTTP2_CANCEL);
    limitInformational(stream, 'headers');
    stream.once('response', (headers) => {
      stream.removeAllListeners('headers');
      resolve({ statusCode: Number(headers[':status']), location: headers.location, body: stream });
    });
    // After its answer the body's reader learns of its end by `close`.
    stream.on('error', reject);
    stream.once('close', () => {
      signal.removeEventListener('abort', abort);
      leave();
      reject(connectionReset());
    });
    signal.addEventListener('abort', abort, { once: true });
  });
}
