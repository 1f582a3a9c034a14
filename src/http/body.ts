import { tooLarge } from '../api/errors/status-error';
import { GrowingBytes } from '../memory/growing-bytes';
import { beginWork } from '../observability/loop-work';
import type { RequestContext } from './context';
import { ClientGoneError } from './context';

/** 3 MiB: objects are at most half of that, patches and lists of options may repeat themselves. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;

const EMPTY = Buffer.alloc(0);

/** The whole body. Throws a 413 when it is too large; what is left of it is then read and dropped. */
export function readBody(context: RequestContext, limit = MAX_BODY_BYTES): Promise<Buffer> {
  const { request } = context;
  return new Promise<Buffer>((resolve, reject) => {
    if (request.readableEnded) return resolve(EMPTY);
    if (request.destroyed) throw new ClientGoneError();
    const announced = Number(request.headers['content-length'] ?? NaN);
    if (announced > limit) {
      request.resume();
      throw tooLargeBody(limit);
    }
    const body = new GrowingBytes(announced);
    const leave = (): void => {
      request.off('data', take).off('end', done).off('error', gone).off('close', gone);
    };
    const fail = (error: Error): void => {
      leave();
      request.resume();
      reject(error);
    };
    const gone = (): void => fail(new ClientGoneError());
    const take = (piece: Buffer): void => {
      if (body.length + piece.length > limit) return fail(tooLargeBody(limit));
      // What comes in one piece is worked on at once.
      if (body.length + piece.length !== announced || body.length > 0) hold(context, piece.length);
      body.push(piece);
    };
    const done = (): void => {
      leave();
      beginWork(context);
      resolve(body.take());
    };
    request.on('data', take).on('end', done).on('error', gone).on('close', gone);
  });
}

/**
 * Counts what has come of a body until its request ends. When the connection holds as much as it may, one of its bodies goes on, for
 * nothing would be released otherwise, and the others wait.
 */
function hold({ memory, request }: RequestContext, bytes: number): void {
  memory.hold(bytes);
  if (memory.mayGoOn) return;
  request.pause();
  void memory.roomToGoOn().then(() => request.resume());
}

function tooLargeBody(limit: number): Error {
  return tooLarge(`Request entity too large: limit is ${limit}`);
}
