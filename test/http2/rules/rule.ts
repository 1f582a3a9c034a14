import { encodeHeaders } from '../../../src/http2/hpack';
import { Flag, FrameType } from '../../../src/http2/frames';
import { frame, headers } from '../../../src/http2/wire.fixture';

/**
 * `accepted`: the connection goes on, and nothing is reset. `stream <code>`: the request is reset with it, others go on.
 * `connection <code>`: a GOAWAY says it, and the connection ends. Where the RFC asks for an error of the stream, one of the
 * connection is right too (RFC 9113, 5.4.1).
 */
export type Outcome = 'accepted' | `stream ${string}` | `connection ${string}`;

/**
 * What the RFC says, and what our server does when it is sent this. Before that stream 1 has ended, stream 3 waits for its answer,
 * stream 5 for its body, and no other one was opened.
 */
export interface Checked {
  readonly section: string;
  readonly rule: string;
  readonly sent: readonly Uint8Array[];
  readonly outcome: Outcome;
  /** `start`: it is the first that the client sends. */
  readonly from?: 'start';
  /** How many requests it opens; 0 by default. */
  readonly requests?: number;
  /** What the last of them looks like, or the one with the body. */
  readonly request?: object;
  /** The server's frames in its reply, a line each, as the fixture words them. */
  readonly responses?: readonly string[];
}

/** A rule that another test checks. */
export interface Elsewhere {
  readonly section: string;
  readonly rule: string;
  readonly elsewhere: string;
}

/** A rule that is not kept, or that does not concern a server of ours. */
export interface LeftOut {
  readonly section: string;
  readonly rule: string;
  readonly leftOut: string;
}

export type Rule = Checked | Elsewhere | LeftOut;

export type Fields = readonly (readonly [name: string, value: string])[];

export const PSEUDO: Fields = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':path', '/'],
  [':authority', 'host'],
];

/** Fields in any order and number. */
export function block(fields: Fields): Buffer {
  return Buffer.concat(fields.map(([name, value]) => encodeHeaders({ [name]: value })));
}

/** A request on stream 7 without a body. */
export function get(...fields: Fields): Buffer {
  return headers(7, block([...PSEUDO, ...fields]), Flag.END_STREAM);
}

/** The same with other pseudo-headers. */
export function getWith(changes: Readonly<Record<string, string | undefined>>, ...fields: Fields): Buffer {
  const pseudo = PSEUDO.map(([name, value]) => [name, name in changes ? changes[name] : value] as const);
  const left = pseudo.filter((field): field is readonly [string, string] => field[1] !== undefined);
  return headers(7, block([...left, ...fields]), Flag.END_STREAM);
}

/** Half of a block on stream 7. */
export const HALF: Buffer = frame(FrameType.HEADERS, Flag.END_STREAM, 7, block(PSEUDO));

export function more(streamId: number, payload: Buffer = Buffer.alloc(0), flags = 0): Buffer {
  return frame(FrameType.CONTINUATION, flags, streamId, payload);
}

export function times(count: number, bytes: Buffer): Buffer[] {
  return Array.from({ length: count }, () => bytes);
}

export function hex(text: string): Buffer {
  return Buffer.from(text.replaceAll(' ', ''), 'hex');
}

/** The same frame of another stream. */
export function onStream(bytes: Buffer, streamId: number): Buffer {
  const changed = Buffer.from(bytes);
  changed.writeUInt32BE(streamId, 5);
  return changed;
}
