import { setTimeout as delay } from 'node:timers/promises';
import { TOKEN_FIELD } from '../history/history';
import { seededRandom } from '../history/simulated-run';
import { describeWithEtcd } from '../support/etcd-server';
import { Cluster, Run } from './support/cluster';
import type { HttpClient } from './support/http-client';
import { runTraffic } from './support/traffic';
import { Watcher } from './support/watcher';

/** How long the writers write; STERNPOST_RUN_SECONDS sets more. */
const RUN_MS = 1000 * Number(process.env['STERNPOST_RUN_SECONDS'] ?? 4);
const SEED = Number(process.env['STERNPOST_SEED'] ?? Date.now() % 100_000);

describeWithEtcd(`three replicas on one etcd (seed ${SEED})`, () => {
  let cluster: Cluster;
  let https: readonly HttpClient[] = [];

  beforeAll(async () => {
    // One lags behind: what it gives as the newest state it must have asked for.
    cluster = await Cluster.start({ replicas: 3, lagMs: 30 });
    https = cluster.replicas.map((_, i) => cluster.client(i));
  }, 90_000);

  afterAll(async () => {
    for (const http of https) http[Symbol.dispose]();
    await (cluster as Cluster | undefined)?.[Symbol.asyncDispose]();
  });

  it('show on one what was written on another, at once', async () => {
    const run = await Run.start(cluster, https[0]!, 'at-once');
    const recorders = https.map((http, i) => run.recorder(`client-${i}`, http));
    let version = await recorders[0]!.create('a', { [TOKEN_FIELD]: 'first' });
    for (let round = 1; round <= 60; round++) {
      const reader = recorders[round % 3]!;
      expect((await reader.get('a'))?.revision).toBe(version?.revision);
      expect((await reader.list()).items.get('a')?.revision).toBe(version?.revision);
      version = await recorders[(round * 2) % 3]!.update('a', version!.revision, { [TOKEN_FIELD]: `round-${round}` });
    }
    expect(await run.problems()).toEqual([]);
  });

  it('let a client list on one, and watch from there on the others', async () => {
    const run = await Run.start(cluster, https[0]!, 'list-then-watch');
    const [writer, lister] = [run.recorder('writer', https[0]!), run.recorder('lister', https[1]!)];
    for (let i = 0; i < 5; i++) await writer.create(`key-${i}`, { [TOKEN_FIELD]: `created-${i}`, parity: 'even' });
    const { revision, items } = await lister.list();
    expect(items.size).toBe(5);
    for (const [i, http] of https.entries()) {
      run.watch({ name: `watcher-${i}`, https: [http], after: revision });
      run.watch({ name: `even-${i}`, https: [http], after: revision, filter: { field: 'parity', value: 'even' } });
    }
    for (let i = 0; i < 5; i++)
      await writer.patch(`key-${i}`, { [TOKEN_FIELD]: `changed-${i}`, parity: i < 3 ? 'odd' : 'even' });
    expect(await run.problems()).toEqual([]);
  });

  it('continue each other’s pages at the revision of the first', async () => {
    const run = await Run.start(cluster, https[0]!, 'pages');
    const writer = run.recorder('writer', https[0]!);
    for (let i = 10; i < 45; i++) await writer.create(`key-${i}`, { [TOKEN_FIELD]: `created-${i}` });
    const reader = run.recorder('reader', https[1]!);
    const stop = new AbortController();
    const changing = (async () => {
      for (let i = 10; !stop.signal.aborted; i = i === 44 ? 10 : i + 1) {
        await writer.patch(`key-${i}`, { [TOKEN_FIELD]: `changed-${performance.now()}` });
      }
    })();
    for (const limit of [1, 7, 10, 34]) {
      const { items } = await reader.list({ type: 'newest' }, { limit, https: [https[1]!, https[2]!, https[0]!] });
      expect(items.size).toBe(35);
    }
    stop.abort();
    await changing;
    expect(await run.problems()).toEqual([]);
  });

  it('take no notice of what others write to the same etcd', async () => {
    const run = await Run.start(cluster, https[0]!, 'others');
    const client = run.recorder('client', https[1]!);
    await client.create('a', { [TOKEN_FIELD]: 'first' });
    for (let round = 0; round < 3; round++) {
      await cluster.store.create(`/elsewhere/${round}`, Buffer.from('of another program'));
      const { revision } = await client.list();
      expect((await client.get('a', { type: 'not older than', revision }))?.fields[TOKEN_FIELD]).toBe('first');
      expect((await client.list({ type: 'not older than', revision })).items.size).toBe(1);
      const watcher = run.watch({ name: `watcher-${round}`, https: [https[round]!], after: 'state' });
      expect(await watcher.until(revision, 3_000)).toBe(true);
      expect(watcher.refusals).toEqual([]);
    }
    await client.patch('a', { [TOKEN_FIELD]: 'second' });
    expect(await run.problems()).toEqual([]);
  });

  it('are the endpoints of the kubernetes Service as long as they live', async () => {
    const addressesOf = async (): Promise<readonly [string[], string[]]> => {
      const path = 'namespaces/default';
      const endpoints = await https[0]!.send('GET', `/api/v1/${path}/endpoints/kubernetes`);
      const slice = await https[0]!.send('GET', `/apis/discovery.k8s.io/v1/${path}/endpointslices/kubernetes`);
      return [
        (endpoints.body.subsets ?? []).flatMap(({ addresses }) => addresses.map(({ ip }) => ip)),
        (slice.body.endpoints ?? []).flatMap(({ addresses }) => addresses),
      ];
    };
    const until = async (expected: readonly string[], patienceMs: number): Promise<void> => {
      const deadline = Date.now() + patienceMs;
      while (Date.now() < deadline && JSON.stringify(await addressesOf()) !== JSON.stringify([expected, expected])) {
        await delay(200);
      }
      expect(await addressesOf()).toEqual([expected, expected]);
    };
    await until(['192.0.2.1', '192.0.2.2', '192.0.2.3'], 15_000);
    expect(await cluster.replicas[2]!.kill('SIGTERM')).toBe(0);
    await until(['192.0.2.1', '192.0.2.2'], 1_000);
    // One that cannot say good-bye is missed when its lease has run out.
    await cluster.replicas[1]!.kill();
    await until(['192.0.2.1'], 30_000);
    await Promise.all(cluster.replicas.slice(1).map((replica) => replica.start()));
    await until(['192.0.2.1', '192.0.2.2', '192.0.2.3'], 5_000);
  }, 90_000);

  it('give the same state at the same revision', async () => {
    const run = await Run.start(cluster, https[0]!, 'exact');
    const writer = run.recorder('writer', https[0]!);
    const revisions: number[] = [];
    for (let i = 0; i < 10; i++) {
      const version = await writer.create(`key-${i % 5}`, { [TOKEN_FIELD]: `created-${i}` });
      const changed = version ?? (await writer.patch(`key-${i % 5}`, { [TOKEN_FIELD]: `changed-${i}` }));
      revisions.push(changed!.revision);
    }
    for (const [i, http] of https.entries()) {
      const reader = run.recorder(`reader-${i}`, http);
      for (const revision of revisions) await reader.list({ type: 'exact', revision });
    }
    expect(await run.problems()).toEqual([]);
  });

  it(
    'stay one store under writers and watchers of all of them',
    async () => {
      const run = await Run.start(cluster, https[0]!, 'traffic');
      const random = seededRandom(SEED);
      const clients = [...https, ...https].map((http, i) => run.recorder(`writer-${i}`, http));
      // One asks another replica each time, with the newest version that it has seen: time must not go back.
      let turn = 0;
      const inTurn: (typeof https)[0]['send'] = (...request) => https[turn++ % https.length]!.send(...request);
      clients.push(run.recorder('wanderer', { send: inTurn }));
      for (const [i, http] of https.entries()) {
        run.watch({ name: `all-${i}`, https: [http], after: 'state' });
        const filter = { field: 'parity', value: 'even' };
        run.watch({ name: `even-${i}`, https: [http], after: 'state', filter });
        // Short streams, each on another replica: bookmarks, and resuming from them.
        run.watch({
          name: `wanderer-${i}`,
          https: [...https.slice(i), ...https.slice(0, i)],
          after: 'state',
          streamSeconds: 3,
          filter,
        });
      }
      await Promise.all(
        clients.map((client) =>
          runTraffic(client, { random, signal: AbortSignal.timeout(RUN_MS), callsPerSecond: 60 }),
        ),
      );
      expect(await run.problems()).toEqual([]);
      expect(run.log.failures).toEqual([]);
      expect(run.log.calls.length).toBeGreaterThan(100);

      // And from every single version that anybody saw, on another replica each time.
      const { revision } = await clients[0]!.list();
      const seen = run.log.calls
        .flatMap((call) =>
          call.kind === 'write' && call.outcome.type === 'done' && call.outcome.revision !== undefined
            ? [call.outcome.revision]
            : [],
        )
        .sort((a, b) => a - b);
      const sample = seen.filter((_, i) => i % Math.ceil(seen.length / 60) === 0);
      const watchers = sample.map(
        (after, i) => new Watcher({ name: `from ${after}`, path: run.path, https: [https[i % 3]!], after }),
      );
      const last = seen.at(-1)!;
      await Promise.all(watchers.map((watcher) => watcher.until(last)));
      for (const [i, watcher] of watchers.entries()) {
        const { streams } = await watcher.stop();
        const heard = streams.flatMap(({ items }) => items.map((item) => item.revision)).filter((at) => at <= last);
        expect(heard.filter((at) => seen.includes(at))).toEqual(seen.filter((at) => at > sample[i]!));
      }
      expect(revision).toBeGreaterThanOrEqual(last);
    },
    RUN_MS + 60_000,
  );

  it.each([
    'before a write',
    'after sending a write',
    'after a write, before its answer',
    'after an event has come, before its watchers hear of it',
  ])(
    'lose nothing when one crashes %s',
    async (crash) => {
      const run = await Run.start(cluster, https[0]!, `crash-${crash.length}`);
      const replica = cluster.replicas[1]!;
      await replica.kill();
      await replica.start({ bug: crash });
      const random = seededRandom(SEED);
      const stop = new AbortController();
      const clients = [...https, https[1]!, https[1]!].map((http, i) => run.recorder(`writer-${i}`, http));
      const watchers = https.map((http, i) => run.watch({ name: `watcher-${i}`, https: [http], after: 'state' }));
      const working = clients.map((client) => runTraffic(client, { random, signal: stop.signal, callsPerSecond: 60 }));
      await replica.untilEnd();
      await replica.start();
      await delay(300);
      stop.abort();
      await Promise.all(working);
      expect(await run.problems()).toEqual([]);
      expect(watchers.flatMap(({ refusals }) => refusals)).toEqual([]);
    },
    60_000,
  );

  it('resume the watches of a killed one elsewhere, without a new list, and its writers go on', async () => {
    const run = await Run.start(cluster, https[1]!, 'killed');
    using balanced = cluster.client();
    const random = seededRandom(SEED + 1);
    const stop = new AbortController();
    const clients = Array.from({ length: 4 }, (_, i) => run.recorder(`writer-${i}`, balanced));
    const working = clients.map((client) => runTraffic(client, { random, signal: stop.signal, callsPerSecond: 40 }));
    const watchers = Array.from({ length: 6 }, (_, i) =>
      run.watch({ name: `watcher-${i}`, https: [balanced], after: 'state' }),
    );
    await delay(1_000);
    await cluster.replicas[0]!.kill();
    await delay(1_000);
    await cluster.replicas[0]!.start();
    await delay(500);
    stop.abort();
    await Promise.all(working);
    expect(await run.problems()).toEqual([]);
    expect(watchers.flatMap(({ refusals }) => refusals)).toEqual([]);
    expect(watchers.some(({ streams }) => streams.length > 1)).toBe(true);
    expect(watchers.flatMap(({ streams }) => streams.slice(1)).every(({ after }) => after !== 'state')).toBe(true);
  }, 60_000);
});
