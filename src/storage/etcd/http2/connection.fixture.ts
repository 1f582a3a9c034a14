import { SETTINGS_ACK, settingsFrame } from '../../../http2/frames';
import { encodeHeaders } from '../../../http2/hpack';
import { Http2Connection, type ConnectionOptions } from './connection';
import type { Headers } from './known-headers';
import { Http2Stream } from './stream';
import { Wire } from '../../../http2/wire.fixture';

export const REQUEST = encodeHeaders({ ':method': 'POST', ':path': '/' });
export const OK = encodeHeaders({ ':status': '200' });

/** Notes what it is told. Data that say "nonsense" make no sense to it. */
export class TestStream extends Http2Stream {
  readonly events: string[] = [];
  data = '';

  override onHeaders(headers: Headers): void {
    this.events.push([...headers].map(([name, value]) => `${name}=${value}`).join(' '));
  }

  override onData(bytes: Buffer): void {
    if (bytes.toString() === 'nonsense') throw new Error('that is nonsense');
    this.data += bytes.toString();
  }

  override onEnd(): void {
    this.events.push(`end ${this.data}`);
  }

  override onFailure(error: Error, isUnsent: boolean): void {
    this.events.push(`${isUnsent ? 'unsent' : 'failed'}: ${error.message}`);
  }
}

export interface Connected {
  readonly connection: Http2Connection<TestStream>;
  readonly wire: Wire;
  /** What the connection has told its owner: how often that it takes no new streams, and why it has ended. */
  readonly told: { readonly goneAway: number; readonly closed: Error | undefined };
}

/** A connection that has been started, and whose server has said nothing yet. */
export function connect(options: Partial<ConnectionOptions> = {}): Connected {
  const wire = new Wire();
  const told: { goneAway: number; closed: Error | undefined } = { goneAway: 0, closed: undefined };
  const connection = new Http2Connection<TestStream>(wire, {
    streamWindowBytes: 1_000,
    connectionWindowBytes: 100_000,
    onGoAway: () => told.goneAway++,
    onClose: (error) => (told.closed = error),
    ...options,
  });
  wire.giveTo(connection);
  connection.start();
  return { connection, wire, told };
}

/** A connection whose server has said hello with these settings. */
export async function greeted(
  settings: readonly (readonly [number, number])[] = [],
  options: Partial<ConnectionOptions> = {},
): Promise<Connected> {
  const connected = connect(options);
  await connected.wire.send(settingsFrame(settings), SETTINGS_ACK);
  await connected.wire.frames();
  return connected;
}

export function request(connection: Http2Connection<TestStream>, body: string, isLast = true): TestStream {
  const stream = new TestStream();
  connection.open(stream, REQUEST);
  connection.send(stream, [Buffer.from(body)], isLast);
  return stream;
}
