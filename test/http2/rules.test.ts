import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { asked, ask, greeted, post, said, serve, type Served } from '../../src/http/http2/server-connection.fixture';
import { FrameType } from '../../src/http2/frames';
import { frame } from '../../src/http2/wire.fixture';
import { connectionRules } from './rules/connections';
import { frameRules } from './rules/frames';
import { hpackRules } from './rules/hpack';
import { messageRules } from './rules/messages';
import type { Checked, Elsewhere, LeftOut, Rule } from './rules/rule';

const PING = frame(FrameType.PING, 0, 0, Buffer.from('are you?'));
const ALIVE = 'pong are you?';

/** Stream 1 has ended, stream 3 waits for an answer, stream 5 for a body, and no other one was opened. */
async function inTheMiddle(): Promise<Served> {
  const served = await greeted();
  (await asked(served, ask(1))).response.end();
  await asked(served, ask(3), post(5));
  await said(served);
  return served;
}

/** What the request on stream 5 says. */
function listen({ streams }: Served): readonly string[] {
  const pieces: string[] = [];
  streams.at(-1)!.request.on('data', (chunk: Buffer) => pieces.push(chunk.toString()));
  return pieces;
}

async function check({ sent, outcome, from, requests = 0, request, responses }: Checked): Promise<void> {
  const served = from === 'start' ? serve() : await inTheMiddle();
  const before = served.streams.length;
  const body = request !== undefined && 'body' in request ? listen(served) : undefined;
  await turn();
  await served.wire.send(...sent);
  await served.wire.send(PING);
  const lines = await said(served);
  const alive = lines.indexOf(ALIVE);
  const frames = lines.filter((_, index) => index !== alive);
  const [kind, code] = outcome.split(' ');

  expect(served.told.faults).toEqual([]);
  expect(alive >= 0).toBe(kind !== 'connection');
  expect(served.wire.writableEnded).toBe(kind === 'connection');
  const resets = frames.filter((line) => line.includes('reset'));
  const partings = frames.filter((line) => line.startsWith('go away'));
  expect(resets.map((line) => line.split(' ').at(-1))).toEqual(kind === 'stream' ? [code] : []);
  expect(partings.map((line) => line.split(' ').at(-1))).toEqual(kind === 'connection' ? [code] : []);
  if (responses !== undefined) expect(frames).toEqual(responses);
  expect(served.streams.length - before).toBe(requests);
  if (request !== undefined) {
    const last = served.streams.at(-1)!.request;
    expect({ method: last.method, url: last.url, headers: last.headers, body: body?.join('') }).toMatchObject(request);
  }
  served.connection.destroy();
}

const all: readonly Rule[] = [...connectionRules, ...frameRules, ...messageRules, ...hpackRules];
const checked = all.filter((rule): rule is Checked => 'sent' in rule);
const elsewhere = all.filter((rule): rule is Elsewhere => 'elsewhere' in rule);
const leftOut = all.filter((rule): rule is LeftOut => 'leftOut' in rule);

describe('a client over HTTP/2', () => {
  it.each(checked.map((rule) => [rule.section, rule.rule, rule.outcome, rule] as const))(
    'by section %s, %s: %s',
    (_, __, ___, rule) => check(rule),
  );
});

it.each(elsewhere.map((rule) => [rule.section, rule.rule, rule.elsewhere] as const))(
  'section %s, %s, is checked in %s',
  (_, __, file) => {
    expect(existsSync(join(__dirname, '../..', file))).toBe(true);
  },
);

it('each rule that is left out has its reason, and no rule stands in the table twice', () => {
  expect(leftOut.filter((rule) => rule.leftOut === '')).toEqual([]);
  const names = all.map(({ section, rule }) => `${section} ${rule}`);
  expect(new Set(names).size).toBe(names.length);
});
