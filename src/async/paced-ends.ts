import type { Socket } from 'node:net';
import { PacedStarts } from './paced-starts';

/** Most of what an end costs comes after the connection's own, with its request's. */
const LEAST_AT_ONCE = 8;
const MOST_AT_ONCE = 128;
/** What has not been told of its end holds memory: the more wait, the more are told in a turn, lest they become more than are. */
const SHARE_AT_ONCE = 1 / 8;
const ENDS_MS = 0.25;

function endsAtOnce(waiting: number): number {
  return Math.min(MOST_AT_ONCE, Math.max(LEAST_AT_ONCE, Math.ceil(waiting * SHARE_AT_ONCE)));
}

/** Where thousands of requests or connections end in one turn of the event loop, a few of them do, and the others in the next turns. */
export function pacedEnds(): PacedStarts {
  return new PacedStarts({ mostAtOnce: endsAtOnce, stretchMs: ENDS_MS });
}

/** Has connections end in turns. */
export class PacedEnds {
  readonly starts = pacedEnds();

  /** Once for each connection, however often it is used. */
  pace(socket: Socket): void {
    // Bound functions would stay with each connection.
    const prototype = Object.getPrototypeOf(socket) as Socket;
    socket._final = (done) => void this.starts.beginOrWait(socket, () => prototype._final.call(socket, done));
    socket._destroy = (error, done) => {
      const isLater = this.starts.beginOrWait(socket, () => prototype._destroy.call(socket, error, done));
      if (isLater) readNoMore(socket);
    };
  }
}

/** What node:net reads by. */
interface Handle {
  onread: () => void;
  readStop(): void;
}

/**
 * node:net takes bytes that come for a destroyed stream for an error whose code is their number, and that throws where nobody catches it.
 * It does the same when it closes a handle. TLS hands out all records that it has read, so that stopping is not enough.
 */
function readNoMore(socket: Socket): void {
  const { _handle: handle } = socket as { _handle?: Handle | null };
  if (!handle) return;
  handle.onread = doNothing;
  handle.readStop();
}

function doNothing(): void {}
