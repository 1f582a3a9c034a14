import { onAbort } from '../../async/on-abort';
import type { Readable } from 'node:stream';
import type { RequestContext } from '../request/context';

/** What came of a body that was passed on. */
export type RelayEnd = 'whole' | 'broken' | 'client gone';

/**
 * Passes a body on as it comes. A client that reads slowly is waited for: nothing more is taken from the source meanwhile. The
 * caller ends the answer.
 */
export function relayBody(source: Readable, context: RequestContext): Promise<RelayEnd> {
  const { response } = context;
  return new Promise((resolve) => {
    let waiting = 0;
    const onDrain = (): void => {
      context.memory.release(waiting);
      waiting = 0;
      source.resume();
    };
    const onData = (chunk: Buffer): void => {
      context.responseBytes += chunk.length;
      if (response.write(chunk)) return;
      source.pause();
      if (waiting === 0) response.once('drain', onDrain);
      waiting += chunk.length;
      context.memory.hold(chunk.length);
    };
    const settle = (end: RelayEnd): void => {
      source.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onError);
      response.off('close', onGone).off('drain', onDrain);
      if (waiting > 0) context.memory.release(waiting);
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

function ignore(): void {}
