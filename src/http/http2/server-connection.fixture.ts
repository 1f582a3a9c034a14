import type { Socket } from 'node:net';
import { Flag, FrameType, PREFACE, Setting, SETTINGS_ACK, settingsFrame } from '../../http2/frames';
import { HeaderTable } from '../../http2/header-table';
import { encodeHeaders, readHeaderBlock, type HeaderFields } from '../../http2/hpack';
import { errorName } from '../../http2/http2-error';
import { MemoryBudget } from '../../memory/memory-budget';
import { headers, Wire, type Frame } from '../../http2/wire.fixture';
import { Http2ServerConnection, type ConnectionOptions } from './server-connection';
import type { Http2ServerStream } from './server-stream';

export type Settings = readonly (readonly [id: number, value: number])[];

/** How much the client takes on a new stream. */
export const firstWindow = (bytes: number): Settings => [[Setting.INITIAL_WINDOW_SIZE, bytes]];

export interface Served {
  readonly connection: Http2ServerConnection;
  readonly wire: Wire;
  /** The requests so far. */
  readonly streams: Http2ServerStream[];
  /** When the deadlines were last looked at of the connection; tests move it. */
  lookedAt: number;
  /** What the connection has told its owner: how often that it has ended, and what was not the client's fault. */
  readonly told: { readonly closed: number; readonly faults: readonly unknown[] };
}

/** A connection whose client has said nothing yet. */
export function serve(options: Partial<ConnectionOptions> = {}): Served {
  const wire = new Wire();
  const streams: Http2ServerStream[] = [];
  const told = { closed: 0, faults: [] as unknown[] };
  const connection = new Http2ServerConnection(wire as unknown as Socket, {
    maxStreams: 10,
    accountOf: () => new MemoryBudget(Infinity).open(() => wire.destroy()),
    onRequest: (stream) => streams.push(stream),
    onClose: () => told.closed++,
    onFault: (error) => told.faults.push(error),
    ...options,
  });
  return { connection, wire, streams, told, lookedAt: Math.ceil(performance.now()) };
}

/** A connection whose client has said hello with these settings. */
export async function greeted(settings: Settings = [], options: Partial<ConnectionOptions> = {}): Promise<Served> {
  const served = serve(options);
  await served.wire.send(PREFACE, settingsFrame(settings), SETTINGS_ACK);
  await served.wire.frames();
  return served;
}

export const PSEUDO = { ':method': 'GET', ':scheme': 'https', ':path': '/', ':authority': 'host' };

/** A request that has no body unless its flags are given. */
export function ask(streamId: number, fields: HeaderFields = {}, flags: number = Flag.END_STREAM): Buffer {
  return headers(streamId, encodeHeaders({ ...PSEUDO, ...fields }), flags);
}

/** A request whose body follows. */
export function post(streamId: number, fields: HeaderFields = {}): Buffer {
  return ask(streamId, { ':method': 'POST', ...fields }, 0);
}

/** The only request of a connection. */
export async function asked(served: Served, ...frames: readonly Buffer[]): Promise<Http2ServerStream> {
  await served.wire.send(...frames);
  await served.wire.frames();
  return served.streams.at(-1)!;
}

export function fieldsOf(block: Buffer): Record<string, string> {
  const fields: Record<string, string> = {};
  readHeaderBlock(block, new HeaderTable(0), ({ name, value }) => {
    fields[name] = value;
    return true;
  });
  return fields;
}

/** What the server said, a line per frame; a full stop is the end of a stream. Long bodies are counted. */
export async function said({ wire }: { readonly wire: Wire }): Promise<string[]> {
  return (await wire.frames()).map(lineOf);
}

const LONG_BYTES = 40;

function lineOf({ type, flags, streamId, payload }: Frame): string {
  const end = (flags & Flag.END_STREAM) === 0 ? '' : '.';
  switch (type) {
    case FrameType.HEADERS:
      return `${streamId}: ${(flags & Flag.END_HEADERS) === 0 ? 'part of a head' : fieldsOf(payload)[':status']}${end}`;
    case FrameType.CONTINUATION:
      return `${streamId}: more of a head${(flags & Flag.END_HEADERS) === 0 ? '' : ', all'}`;
    case FrameType.DATA:
      return `${streamId}: ${payload.length > LONG_BYTES ? payload.length : `"${payload.toString()}"`}${end}`;
    case FrameType.RST_STREAM:
      return `${streamId}: reset ${errorName(payload.readUInt32BE())}`;
    case FrameType.WINDOW_UPDATE:
      return `${streamId}: window ${payload.readUInt32BE()}`;
    case FrameType.GOAWAY:
      return `go away after ${payload.readUInt32BE()} ${errorName(payload.readUInt32BE(4))}`;
    case FrameType.SETTINGS:
      return flags & Flag.ACK ? 'settings acknowledged' : 'settings';
    case FrameType.PING:
      return `${flags & Flag.ACK ? 'pong' : 'ping'} ${payload.toString()}`;
    default:
      return `frame ${type}`;
  }
}
