import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startApiServer, type ApiServer } from '../../src';
import { RawClient } from '../support/raw-client';
import { play, type Exchange } from './player';
import { SCENARIOS } from './scenarios';

const EVERYTHING_BUT_DATE: FakeableAPI[] = [
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setInterval',
  'clearInterval',
  'setTimeout',
  'clearTimeout',
];

let server: ApiServer;
let client: RawClient;
beforeAll(async () => {
  // Managers stand in the order of their times, which were the same second when this was recorded.
  jest.useFakeTimers({ doNotFake: EVERYTHING_BUT_DATE });
  server = await startApiServer({ controllers: [] });
  client = new RawClient(server);
}, 30_000);
afterAll(async () => {
  client.close();
  await server.stop();
  jest.useRealTimers();
});

function recorded(name: string): readonly Exchange[] {
  return JSON.parse(readFileSync(join(__dirname, 'exchanges', `${name}.json`), 'utf8')) as readonly Exchange[];
}

describe('what kube-apiserver 1.20.2 answered is answered here', () => {
  it.each(Object.entries(SCENARIOS))('%s', async (name, steps) => {
    const played = await play(
      ({ method, path, body, contentType, accept }) => client.sendText(method, path, body, contentType, accept),
      name,
      steps,
    );
    expect(played).toEqual(recorded(name));
  });
});
