import { setImmediate as turn } from 'node:timers/promises';
import {
  Flag,
  FrameType,
  PREFACE,
  resetFrame,
  Setting,
  settingsFrame,
  SETTINGS_ACK,
  windowUpdateFrame,
} from '../../src/http2/frames';
import { data, frame, headers } from '../../src/http2/wire.fixture';
import { ask, post, said, serve, type Served } from '../../src/http/http2/server-connection.fixture';
import { block, more, PSEUDO } from './rules/rule';
import { forEachSeed, timeoutOf, type Random } from './support/seeds';

const RUNS = 600;
const MAX_STREAMS = 5;
/** What the limits of a stranger's connection add up to: headers, bodies, a frame and a block that have begun. */
const MAX_HELD_BYTES = (512 + 1024 + 256 + 128) * 1024 + 9;

const indexed = (name: string, value: string): Buffer =>
  Buffer.concat([Buffer.from([0x40, name.length]), Buffer.from(name), Buffer.from([value.length]), Buffer.from(value)]);

/** Something that a client may well say on a stream. */
function conversation(random: Random, id: number): Buffer[] {
  const long = Buffer.concat([block(PSEUDO), indexed('token', 'x'.repeat(100)), Buffer.from([0xbe, 0xbe])]);
  switch (random.below(7)) {
    case 0:
      return [ask(id)];
    case 1:
      return [post(id, { 'content-length': '6' }), data(id, 'abc'), data(id, 'def', Flag.END_STREAM)];
    case 2:
      return [post(id), data(id, 'abc'), headers(id, block([['checksum', '1']]), Flag.END_STREAM)];
    case 3:
      return [headers(id, long, Flag.END_STREAM), windowUpdateFrame(id, 100)];
    case 4:
      return [ask(id), resetFrame(id, 8)];
    case 5:
      return [
        frame(FrameType.HEADERS, Flag.END_STREAM, id, long.subarray(0, 20)),
        more(id, long.subarray(20), Flag.END_HEADERS),
      ];
    default:
      return [post(id), data(id, 'x'.repeat(20_000))];
  }
}

function connectionFrame(random: Random): Buffer {
  return random.pick([
    settingsFrame([[Setting.INITIAL_WINDOW_SIZE, random.below(100_000)]]),
    SETTINGS_ACK,
    frame(FrameType.PING, 0, 0, Buffer.alloc(8)),
    windowUpdateFrame(0, 1 + random.below(1_000)),
    frame(FrameType.PRIORITY, 0, 1, Buffer.alloc(5)),
    frame(0xfa, 0xff, 3, Buffer.from('unknown')),
  ]);
}

/** Frames that break no rule. */
function validFrames(random: Random): Buffer[] {
  const frames: Buffer[] = [settingsFrame([])];
  for (let id = 1; id < 2 + random.below(20); id += 2) {
    frames.push(...conversation(random, id));
    if (random.oneIn(3)) frames.push(connectionFrame(random));
  }
  return frames;
}

function mutateFrames(random: Random, frames: Buffer[]): void {
  const [at, to] = [random.below(frames.length), random.below(frames.length)];
  const one = frames[at]!;
  switch (random.below(4)) {
    case 0:
      return void frames.splice(at, 1);
    case 1:
      return void frames.splice(to, 0, one);
    case 2:
      return void ([frames[at], frames[to]] = [frames[to]!, one]);
    default: {
      // Another stream, type, or flags.
      const changed = Buffer.from(one);
      changed[3 + random.below(6)] = random.below(12);
      frames[at] = changed;
    }
  }
}

function mutateBytes(random: Random, bytes: Buffer): Buffer {
  const at = random.below(bytes.length);
  const length = random.below(30);
  switch (random.below(5)) {
    case 0:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
    case 1:
      return Buffer.concat([bytes.subarray(0, at + length), bytes.subarray(at)]);
    case 2:
      return bytes.subarray(0, at);
    default: {
      const changed = Buffer.from(bytes);
      changed[at] = random.oneIn(2) ? random.below(256) : changed[at]! ^ (1 << random.below(8));
      return changed;
    }
  }
}

interface Seen {
  opened: number;
  /** How often each request was told that it is over. */
  readonly closes: number[];
}

function serveAll(random: Random): { readonly served: Served; readonly seen: Seen } {
  const seen: Seen = { opened: 0, closes: [] };
  const served = serve({
    maxStreams: MAX_STREAMS,
    onRequest: ({ request, response }) => {
      const index = seen.closes.push(0) - 1;
      response.on('close', () => seen.closes[index]!++);
      const kind = random.below(4);
      if (kind === 0) return void response.end(Buffer.alloc(random.size(100_000)));
      if (kind === 1) return void setImmediate(() => response.destroy());
      request.on('data', (chunk) => response.write(chunk)).on('end', () => response.end());
      if (request.readableEnded) response.end('done');
    },
  });
  return { served, seen };
}

async function mutate(random: Random): Promise<void> {
  const frames = validFrames(random);
  const changes = [random.below(4), random.below(4)] as const;
  for (let left = changes[0]; left > 0; left--) if (frames.length > 0) mutateFrames(random, frames);
  let bytes = Buffer.concat([PREFACE, ...frames]);
  for (let left = changes[1]; left > 0 && bytes.length > 0; left--) bytes = mutateBytes(random, bytes) as typeof bytes;
  const { served, seen } = serveAll(random);
  const lines: string[] = [];
  for (let from = 0; from < bytes.length;) {
    const to = from + 1 + random.size(20_000);
    await served.wire.send(bytes.subarray(from, to));
    from = to;
    const { heldBytes } = served.connection;
    if (heldBytes > MAX_HELD_BYTES) throw new Error(`${heldBytes} bytes are held`);
    const underWay = seen.closes.filter((closes) => closes === 0).length;
    if (underWay > MAX_STREAMS) throw new Error(`${underWay} requests are under way`);
    lines.push(...(await said(served)));
  }
  await turn();
  lines.push(...(await said(served)));
  expect(served.told.faults).toEqual([]);
  const partings = lines.filter((line) => line.startsWith('go away'));
  expect(partings.length).toBeLessThanOrEqual(changes[0] + changes[1] === 0 ? 0 : 1);
  // Whoever says nothing more is not waited for.
  served.wire.push(null);
  await turn();
  await turn();
  served.connection.destroy();
  expect(served.told).toEqual({ closed: 1, faults: [] });
  expect(served.connection.heldBytes).toBeLessThanOrEqual(512 * 1024);
  expect(seen.closes).toEqual(seen.closes.map(() => 1));
}

it(
  'whatever becomes of the bytes of a client, the connection goes on or ends, and holds no more than it may',
  () => forEachSeed(RUNS, mutate),
  timeoutOf(RUNS),
);
