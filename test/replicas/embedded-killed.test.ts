import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { checkHistory } from '../history/check-history';
import { seededRandom } from '../history/simulated-run';
import { openEmbeddedStore } from '../../src/storage/embedded/embedded-store';
import type { Revision } from '../../src/storage/store';
import { freePorts } from '../support/free-ports';
import { HttpClient } from './support/http-client';
import { Recorder, type CallLog } from './support/recorder';
import { credentialsOf, ServerProcess } from './support/server-process';
import { runTraffic } from './support/traffic';
import { TruthRecorder } from './support/truth';
import { Watcher } from './support/watcher';

/** How often the server is killed; STERNPOST_CRASHES sets more. */
const CRASHES = Number(process.env['STERNPOST_CRASHES'] ?? 4);
const SEED = Number(process.env['STERNPOST_SEED'] ?? Date.now() % 100_000);
const PATH = '/api/v1/namespaces/default/configmaps';

describe(`a server with the embedded store that is killed under load (seed ${SEED})`, () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sternpost-killed-'));
  });

  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  it(
    'loses no acknowledged write, and its watches resume',
    async () => {
      const [port] = await freePorts(1);
      await using server = new ServerProcess({ dataDir: folder, port: port!, flags: [] });
      await server.start();
      using http = new HttpClient(port!, credentialsOf(folder));
      const log: CallLog = { calls: [], failures: [] };
      const after = Number((await http.send('GET', PATH)).body.metadata.resourceVersion);
      const random = seededRandom(SEED);
      const stop = new AbortController();
      const watchers = [after, 'state' as const, 'state' as const].map(
        (from, i) => new Watcher({ name: `watcher-${i}`, https: [http], path: PATH, after: from }),
      );
      const working = Array.from({ length: 6 }, (_, i) =>
        runTraffic(new Recorder(`writer-${i}`, http, PATH, log), { random, signal: stop.signal, callsPerSecond: 60 }),
      );
      for (let crash = 0; crash < CRASHES; crash++) {
        await delay(200 + 800 * random());
        await server.kill();
        await server.start();
      }
      await delay(500);
      stop.abort();
      await Promise.all(working);
      const newest = Number((await http.send('GET', PATH)).body.metadata.resourceVersion);
      await delay(500);
      expect(await server.kill('SIGTERM')).toBe(0);
      const sessions = await Promise.all(watchers.map((watcher) => watcher.stop(newest)));

      const store = await openEmbeddedStore({ path: join(folder, 'registry.mdb') });
      const truth = new TruthRecorder(store, '/registry/configmaps/default/', after as Revision);
      const { events } = await truth.finish();
      await store.close();
      expect(checkHistory({ truth: events, calls: log.calls, sessions })).toEqual([]);
      expect(watchers.flatMap(({ refusals }) => refusals)).toEqual([]);
      expect(events.length).toBeGreaterThan(20);
    },
    30_000 + 15_000 * CRASHES,
  );
});
