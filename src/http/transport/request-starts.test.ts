import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PacedStarts } from '../../async/paced-starts';
import { SharedTurns } from '../../async/shared-turns';
import { isProbeUrl } from '../filters/probes';
import { Arrivals } from './arrivals';
import { costsOf } from './connection-costs';
import { RequestStarts } from './request-starts';

const WATCH = '/api/v1/pods?watch=1';
/** More than a turn of the loop is for. */
const LONG_MS = 6;

let starts: RequestStarts;
let nowMs: number;
let begun: string[];

beforeEach(() => {
  nowMs = 1_000;
  begun = [];
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  starts = new RequestStarts(
    { turns: new SharedTurns(), arrivals: new Arrivals(), ends: new PacedStarts() },
    isProbeUrl,
  );
});

afterEach(() => jest.restoreAllMocks());

function send(url: string, spentMs = 0, tookMs = 0): void {
  const socket = new Socket();
  costsOf(socket).count(spentMs, nowMs);
  starts.begin({ socket, url }, nowMs, () => {
    begun.push(url);
    nowMs += tookMs;
  });
}

/** As many turns of the loop as something has to wait for, at most. */
async function turnsUntil(isSo: () => boolean): Promise<number> {
  let turns = 0;
  for (; !isSo() && turns < 1_000; turns++) await nextTurn();
  return turns;
}

it('a request begins at once where there is time in the turn of the loop, and waits for another one otherwise', async () => {
  send(WATCH, 0, LONG_MS);
  expect(begun).toHaveLength(1);
  send(WATCH, 0, LONG_MS);
  send(WATCH, 0, LONG_MS);
  expect(begun).toHaveLength(1);
  await turnsUntil(() => begun.length === 3);
  expect(begun).toHaveLength(3);
});

describe('while requests of hundreds of connections wait', () => {
  beforeEach(() => {
    for (let connections = 0; connections < 300; connections++) send(WATCH, 0, LONG_MS);
  });

  it.each(['/readyz', '/livez?verbose', '/healthz/etcd'])('a probe of another one does not: %s', async (probe) => {
    send(probe);
    expect(await turnsUntil(() => begun.includes(probe))).toBeLessThan(4);
  });

  it('neither does one when other probes have taken what time there was', async () => {
    for (let probes = 0; probes < 20; probes++) send('/livez', 0, 1);
    send('/readyz');
    expect(await turnsUntil(() => begun.includes('/readyz'))).toBeLessThan(40);
  });

  it('a request that looks like one waits', async () => {
    send('/readyzz');
    expect(await turnsUntil(() => begun.includes('/readyzz'))).toBeGreaterThan(200);
  });

  it('a probe of a connection that has cost something waits with the requests of its like', async () => {
    for (let connections = 0; connections < 300; connections++) send(WATCH, 5, LONG_MS);
    send('/readyz', 5);
    expect(await turnsUntil(() => begun.includes('/readyz'))).toBeGreaterThan(200);
  });

  it('a probe with a long query waits with them, whoever sends it', async () => {
    for (let connections = 0; connections < 300; connections++) send(WATCH, 5, LONG_MS);
    const probe = `/readyz?exclude=${'x'.repeat(3_000)}`;
    send(probe);
    expect(await turnsUntil(() => begun.includes(probe))).toBeGreaterThan(200);
  });
});
