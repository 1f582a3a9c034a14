import { tooLarge } from '../../api/errors/status-error';
import { GrowingBytes } from '../../memory/growing-bytes';
import { beginWork } from '../../async/loop-work';
import type { RequestContext } from './context';
import { ClientGoneError } from './context';
import { pauseSeat, returnToSeat } from '../filters/seats';

/** 3 MiB: objects are at most half of that, patches and lists of options may repeat themselves. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;

/**
 * The most that is read of an object that is answered and not kept, or tells what to do with another: reviews, Scales,
 * Evictions, DeleteOptions. The largest that clients send are reviews of tokens and of users with many groups.
 */
export const MAX_POSTED_BYTES = 128 * 1024;

const EMPTY = Buffer.alloc(0);

/**
 * The whole body. Throws a 413 when it is too large; what is left of it is then read and dropped. Throws a 429 when the server has
 * too many requests under way by the time that all of it has come.
 */
export async function readBody(context: RequestContext, limit = MAX_BODY_BYTES): Promise<Buffer> {
  const body = await wholeBody(context, limit);
  context.requestBytes = body.length;
  const returned = returnToSeat(context);
  if (returned !== undefined) await returned;
  return body;
}

function wholeBody(context: RequestContext, limit: number): Promise<Buffer> {
  const { request } = context;
  return new Promise<Buffer>((resolve, reject) => {
    // What is left of its body has been dropped: an empty one would mean something else.
    context.throwIfAborted();
    if (request.readableEnded) return resolve(EMPTY);
    if (request.destroyed) throw new ClientGoneError();
    const announced = Number(request.headers['content-length'] ?? NaN);
    if (announced > limit) {
      request.resume();
      throw tooLargeBody(announced > MAX_BODY_BYTES ? MAX_BODY_BYTES : limit);
    }
    const body = new GrowingBytes(announced);
    let isHeld = false;
    const leave = (): void => {
      request.off('data', take).off('end', done).off('error', gone).off('close', gone);
    };
    const fail = (error: Error): void => {
      leave();
      body.drop();
      request.resume();
      reject(error);
    };
    const gone = (): void => fail(new ClientGoneError());
    const take = (piece: Buffer): void => {
      if (body.length + piece.length > limit) return fail(tooLargeBody(limit));
      // What comes in one piece is worked on at once. The rest is held until the request ends.
      if (body.length + piece.length !== announced || body.length > 0) {
        context.memory.hold(piece.length);
        isHeld = true;
      }
      body.push(piece);
    };
    const done = (): void => {
      leave();
      if (isHeld) context.memory.received();
      beginWork(context);
      resolve(body.take());
    };
    pauseSeat(context);
    request.on('data', take).on('end', done).on('error', gone).on('close', gone);
  });
}

function tooLargeBody(limit: number): Error {
  return tooLarge(`Request entity too large: limit is ${limit}`);
}
