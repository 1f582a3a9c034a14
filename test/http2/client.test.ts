import { once } from 'node:events';
import { constants, createServer, type ServerHttp2Session, type ServerHttp2Stream, type Settings } from 'node:http2';
import { connect, type AddressInfo } from 'node:net';
import { encodeHeaders } from '../../src/http2/hpack';
import { Http2Connection } from '../../src/storage/etcd/http2/connection';
import type { Headers } from '../../src/storage/etcd/http2/known-headers';
import { Http2Stream } from '../../src/storage/etcd/http2/stream';
import { bodyId, digest, digestOf, isBeginning, piecesOf, planOf, sum, turns, type Plan } from './support/exchange';
import { forEachSeed, timeoutOf, type Random } from './support/seeds';

const RUNS = 40;

/** Gathers an answer. */
class Call extends Http2Stream {
  readonly blocks: Headers[] = [];
  readonly pieces: Buffer[] = [];
  ended = 0;
  readonly failures: Error[] = [];

  override onHeaders(headers: Headers): void {
    this.blocks.push(headers);
  }

  override onData(bytes: Buffer): void {
    this.pieces.push(Buffer.from(bytes));
  }

  override onEnd(): void {
    this.ended++;
  }

  override onFailure(error: Error): void {
    this.failures.push(error);
  }
}

/** Does the server's part of a plan with Node's own HTTP/2. */
async function respond(stream: ServerHttp2Stream, plan: Plan): Promise<void> {
  stream.on('error', () => undefined);
  const pieces: Buffer[] = [];
  stream.on('data', (piece: Buffer) => pieces.push(piece));
  if (!plan.isEarly) await once(stream, 'end').catch(() => undefined);
  if (stream.destroyed) return;
  const fields = { ':status': 200, 'x-id': String(plan.id), 'x-digest': digest(Buffer.concat(pieces)) };
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': String(plan.id) }));
  stream.respond(fields, { waitForTrailers: plan.responseHasTrailers });
  let index = 0;
  for (const piece of piecesOf(plan.id, plan.response)) {
    if (stream.destroyed) return;
    if (plan.breakAt === index++) return stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    stream.write(piece);
    await turns(plan.id % 3);
  }
  if (!stream.destroyed) stream.end();
}

function settingsOf(random: Random): Settings {
  return {
    initialWindowSize: random.pick([200, 16_384, 65_535, 1_000_000]),
    maxFrameSize: random.pick([16_384, 100_000]),
  };
}

/** Whatever else a server may say meanwhile. */
async function chatter(session: ServerHttp2Session, random: Random, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await turns(1 + random.below(20));
    if (session.destroyed) return;
    if (random.oneIn(10)) await new Promise<void>((resolve) => session.settings(settingsOf(random), () => resolve()));
    else if (random.oneIn(5)) session.ping(() => undefined);
  }
}

async function call(connection: Http2Connection<Call>, plan: Plan): Promise<void> {
  const stream = new Call();
  const plain = { ':method': plan.method, ':scheme': 'http', ':path': '/', ':authority': 'host' };
  connection.open(stream, encodeHeaders({ ...plain, 'x-plan': JSON.stringify(plan) }));
  const pieces = [...piecesOf(bodyId(plan), plan.body)];
  if (plan.abortAfter !== undefined) void turns(plan.abortAfter).then(() => connection.cancel(stream));
  for (const [index, piece] of pieces.entries()) {
    connection.send(stream, [piece], index === pieces.length - 1);
    await turns(plan.id % 3);
  }
  if (pieces.length === 0) connection.send(stream, [], true);
  while (!stream.isClosed) await turns(1);
  await turns(1);
  check(plan, stream);
}

function check(plan: Plan, { blocks, pieces, ended, failures }: Call): void {
  const bytes = Buffer.concat(pieces);
  const told = `request ${plan.id}: ${blocks.length} blocks, ${bytes.length} bytes, ${ended} ends, ${failures.join()}`;
  const [head, trailers] = blocks;
  if (head !== undefined && head.get('x-id') !== String(plan.id)) throw new Error(`${told}: another's answer`);
  if (!isBeginning(plan, bytes) || ended + failures.length > 1) throw new Error(told);
  const isBroken = plan.breakAt !== undefined && plan.breakAt < plan.response.length;
  if (plan.abortAfter !== undefined || isBroken) return;
  if (ended !== 1 || bytes.length !== sum(plan.response)) throw new Error(told);
  if (plan.responseHasTrailers && trailers?.get('grpc-status') !== String(plan.id))
    throw new Error(`${told}: trailers`);
  if (!plan.isEarly && head?.get('x-digest') !== digestOf(plan)) throw new Error(`${told}: its body was another`);
}

async function converse(random: Random, count: number): Promise<void> {
  const failures: unknown[] = [];
  const server = createServer({ settings: { ...settingsOf(random), maxConcurrentStreams: random.pick([1, 5, 100]) } });
  const session = new Promise<ServerHttp2Session>((resolve) => server.on('session', resolve));
  server.on('sessionError', (error) => failures.push(error));
  server.on('stream', (stream, headers) => {
    respond(stream, JSON.parse(String(headers['x-plan'])) as Plan).catch((error: unknown) => failures.push(error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const told = { goneAway: 0, closed: 0 };
  const connection = new Http2Connection<Call>(socket, {
    streamWindowBytes: random.pick([1_000, 65_535, 1_000_000]),
    connectionWindowBytes: random.pick([100_000, 10_000_000]),
    onGoAway: () => told.goneAway++,
    onClose: () => told.closed++,
  });
  socket.on('data', (chunk) => connection.receive(chunk));
  await once(socket, 'connect');
  connection.start();
  // Until it has read them a client may open more streams than the server takes.
  await once(await session, 'localSettings');
  let isOver = false;
  const talk = session.then((one) => chatter(one, random, () => isOver));
  const calls: Promise<unknown>[] = [];
  for (let id = 1; id <= count; id++) {
    calls.push(call(connection, planOf(random, id, 20_000)).catch((error: unknown) => failures.push(error)));
    await turns(random.below(4));
  }
  await Promise.all(calls);
  isOver = true;
  await talk;
  expect(failures).toEqual([]);
  expect(connection.streams()).toEqual([]);
  expect(told).toEqual({ goneAway: 0, closed: 0 });
  (await session).close();
  while (told.closed === 0) await turns(1);
  expect(told.closed).toBe(1);
  server.close();
  await once(server, 'close');
}

it(
  "our client and Node's server understand each other, however they interleave",
  () => forEachSeed(RUNS, (random) => converse(random, 1 + random.below(40))),
  timeoutOf(RUNS),
);
