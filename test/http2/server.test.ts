import { once } from 'node:events';
import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream, type Settings } from 'node:http2';
import { bodyId, digestOf, isBeginning, piecesOf, planOf, sum, turns, type Plan } from './support/exchange';
import { ourServer } from './support/our-server';
import { forEachSeed, timeoutOf, type Random } from './support/seeds';

const MAX_STREAMS = 30;
const RUNS = 40;

interface Got {
  readonly status: number | undefined;
  readonly id: string | undefined;
  readonly digest: string | undefined;
  readonly bytes: Buffer;
  /** The code with which the stream ended. */
  readonly code: number;
}

/** Does its part of a plan with Node's own HTTP/2. */
async function ask(session: ClientHttp2Session, plan: Plan): Promise<Got> {
  const stream = session.request(
    {
      ':method': plan.method,
      ':path': '/',
      'x-plan': JSON.stringify(plan),
      [`x-${plan.id % 7}`]: 'y'.repeat(plan.id % 300),
    },
    { endStream: plan.method === 'GET', waitForTrailers: plan.hasTrailers },
  );
  const pieces: Buffer[] = [];
  let fields: Record<string, unknown> = {};
  stream.on('response', (received) => (fields = { ...received }));
  stream.on('data', (piece: Buffer) => pieces.push(piece));
  // What was wrong is in the code.
  stream.on('error', () => undefined);
  stream.on('wantTrailers', () => stream.sendTrailers({ checksum: String(plan.id) }));
  const closed = once(stream, 'close').catch(() => undefined);
  if (plan.abortAfter !== undefined) void giveUp(stream, plan.abortAfter);
  if (plan.method !== 'GET') {
    for (const piece of piecesOf(bodyId(plan), plan.body)) {
      if (stream.destroyed) break;
      stream.write(piece);
      await turns(plan.id % 3);
    }
    if (!stream.destroyed) stream.end();
  }
  await closed;
  return {
    status: fields[':status'] as number | undefined,
    id: fields['x-id'] as string | undefined,
    digest: fields['x-digest'] as string | undefined,
    bytes: Buffer.concat(pieces),
    code: stream.rstCode,
  };
}

/** Not before the request has left: Node ends the whole session otherwise. */
async function giveUp(stream: ClientHttp2Stream, afterTurns: number): Promise<void> {
  if (stream.pending) await once(stream, 'ready');
  await turns(3 + afterTurns);
  stream.close(constants.NGHTTP2_CANCEL);
}

function check(plan: Plan, got: Got): void {
  const response = `request ${plan.id}: ${got.status} of ${got.id}, ${got.bytes.length} bytes, code ${got.code}`;
  if (got.status !== undefined && (got.status !== 200 || got.id !== String(plan.id))) throw new Error(response);
  if (!isBeginning(plan, got.bytes)) throw new Error(`${response}: these are not its bytes`);
  const isBroken = plan.breakAt !== undefined && plan.breakAt < plan.response.length;
  if (plan.abortAfter !== undefined || isBroken) return;
  if (got.code !== constants.NGHTTP2_NO_ERROR || got.bytes.length !== sum(plan.response)) throw new Error(response);
  if (!plan.isEarly && got.digest !== digestOf(plan)) throw new Error(`${response}: its body was another`);
}

function settingsOf(random: Random): Settings {
  return {
    initialWindowSize: random.pick([500, 16_384, 65_535, 1_000_000]),
    maxFrameSize: random.pick([16_384, 100_000]),
    // Another size than the server's, and Node's client fails to send its next request.
    headerTableSize: 4_096,
    enablePush: random.oneIn(2),
  };
}

/** Whatever else a client may say meanwhile. */
async function chatter(session: ClientHttp2Session, random: Random, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await turns(1 + random.below(20));
    if (session.destroyed) return;
    if (random.oneIn(10)) await new Promise<void>((resolve) => session.settings(settingsOf(random), () => resolve()));
    else if (random.oneIn(5)) session.ping(() => undefined);
    else if (random.oneIn(8)) session.setLocalWindowSize(random.pick([65_535, 1_000_000]));
  }
}

async function converse(random: Random, count: number, maxBytes: number): Promise<void> {
  await using server = await ourServer(MAX_STREAMS);
  const session = connect(`http://127.0.0.1:${server.port}`, { settings: settingsOf(random) });
  const failures: unknown[] = [];
  session.on('error', (error) => failures.push(error)).on('goaway', (code) => failures.push(`GOAWAY ${code}`));
  await once(session, 'remoteSettings');
  let isOver = false;
  const talk = chatter(session, random, () => isOver);
  const asked: Promise<void>[] = [];
  for (let id = 1; id <= count; id++) {
    const plan = planOf(random, id, maxBytes);
    asked.push(
      ask(session, plan)
        .then((got) => check(plan, got))
        .catch((error: unknown) => void failures.push(error)),
    );
    await turns(random.below(4));
  }
  await Promise.all(asked);
  isOver = true;
  await talk;
  await turns(5);
  expect(failures).toEqual([]);
  expect(server.faults).toEqual([]);
  expect(server.connections).toHaveLength(1);
  expect(server.connections[0]!.heldBytes).toBe(0);
  const { told } = server;
  expect(told.ended).toBe(told.opened);
  expect(told.mostAtOnce).toBeLessThanOrEqual(MAX_STREAMS);
  const ended = once(session, 'close');
  session.close();
  await ended;
  while (told.closed === 0) await turns(1);
  expect(told.closed).toBe(1);
}

it(
  "our server and Node's client understand each other, however they interleave",
  () => forEachSeed(RUNS, (random) => converse(random, 1 + random.below(40), 20_000)),
  timeoutOf(RUNS),
);

it(
  'of a thousand requests of one connection each has its own answer, whichever are given up',
  () => forEachSeed(1, (random) => converse(random, 1_000, 3_000)),
  timeoutOf(30),
);
