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
    if (Number(request.headers['content-length'] ?? 0) > limit) {
      request.resume();
      throw tooLargeBody(limit);
    }
    const body = new GrowingBytes();
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
      if (body.length + piece.length > limit) fail(tooLargeBody(limit));
      else body.push(piece);
    };
    const done = (): void => {
      leave();
      beginWork(context);
      resolve(body.take());
    };
    request.on('data', take).on('end', done).on('error', gone).on('close', gone);
  });
}

function tooLargeBody(limit: number): Error {
  return tooLarge(`Request entity too large: limit is ${limit}`);
}
