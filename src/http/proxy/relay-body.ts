import { onAbort } from '../../async/on-abort';
import type { Readable } from 'node:stream';
import { Backpressure } from '../../streams/backpressure';
import { gatherWrites } from '../../streams/gathered-writes';
import type { RequestContext } from '../request/context';
import { shuttingDown } from '../response/refusals';

/** What came of a body that was passed on. */
export type RelayEnd = 'whole' | 'broken' | 'client gone';

/**
 * Passes a body on as it comes. A client that reads slowly holds its own source back ({@link Backpressure}). The caller
 * ends the answer.
 */
export function relayBody(source: Readable, context: RequestContext): Promise<RelayEnd> {
  const { request, response } = context;
  // Over HTTP/2 all that is written to a connection in one turn leaves together anyway.
  const isAlone = request.httpVersion.startsWith('1.');
  return new Promise((resolve) => {
    const backpressure = new Backpressure(source, response, context.memory);
    const onData = (chunk: Buffer): void => {
      context.responseBytes += chunk.length;
      if (isAlone) gatherWrites(request.socket);
      response.write(chunk);
      backpressure.wrote(chunk.length);
    };
    const settle = (end: RelayEnd): void => {
      source.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onError);
      response.off('close', onGone);
      if (end !== 'whole') source.on('error', ignore).destroy();
      resolve(end);
    };
    const onEnd = (): void => settle('whole');
    const onClose = (): void => settle('broken');
    const onError = (): void => settle('broken');
    const onGone = (): void => settle('client gone');
    source.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onError);
    response.on('close', onGone);
    if (response.destroyed) onGone();
    else if (source.destroyed) onClose();
  });
}

/** The first bytes of a body, as text; the rest is not read. */
export async function firstText(source: Readable, limitBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= limitBytes) break;
    }
  } catch {
    // What has come says enough.
  }
  return Buffer.concat(chunks).subarray(0, limitBytes).toString('utf8');
}

/** Calls `end` when the server goes down before the request is over. */
export function endWith(closing: AbortSignal, context: RequestContext, end: () => void): void {
  context.onFinished(onAbort(closing, end));
}

/** The request has become a stream, which `end` ends when the server goes down. */
export function lastAsStream(closing: AbortSignal, context: RequestContext, end: () => void): void {
  context.becameStream();
  endWith(closing, context, end);
}

/** What is nearly done when the server goes down gets done. */
const LAST_ANSWER_MS = 1_000;

/**
 * Has a request that lasts as long as others want end soon after the server begins to go down, whatever it waits for: a backend that
 * has not answered, or an answer that goes on.
 */
export function endSoonWith(closing: AbortSignal, context: RequestContext): void {
  endWith(closing, context, () => {
    const timer = setTimeout(() => {
      // On a connection that speaks another protocol there is no answer to give.
      if (context.statusCode === 101) context.response.destroy();
      else context.expire(shuttingDown(), true);
    }, LAST_ANSWER_MS);
    context.onFinished(() => clearTimeout(timer));
  });
}

function ignore(): void {}
