import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AlarmAction, Etcd3 } from 'etcd3';
import { TOKEN_FIELD } from '../history/history';
import { seededRandom } from '../history/simulated-run';
import { writeTestCertificates } from '../support/certificates';
import { EtcdServer, describeWithEtcd } from '../support/etcd-server';
import { freePorts } from '../support/free-ports';
import { Cluster, Run } from './support/cluster';
import { HttpClient } from './support/http-client';
import { patiently } from './support/patiently';
import { credentialsOf, ServerProcess } from './support/server-process';
import type { Recorder } from './support/recorder';
import { runTraffic } from './support/traffic';
import type { Watcher } from './support/watcher';

/** How long writers write before and after a fault; STERNPOST_RUN_SECONDS sets more. */
const PHASE_MS = 500 * Number(process.env['STERNPOST_RUN_SECONDS'] ?? 2);
const SEED = Number(process.env['STERNPOST_SEED'] ?? Date.now() % 100_000);

describeWithEtcd(`two replicas whose etcd has trouble (seed ${SEED})`, () => {
  let cluster: Cluster;
  let https: readonly HttpClient[] = [];

  beforeAll(async () => {
    // Each with a client library of its own.
    cluster = await Cluster.start({ replicas: 2, lastFlags: ['--etcd-client=etcd3'] });
    https = cluster.replicas.map((_, i) => cluster.client(i));
  }, 90_000);

  afterAll(async () => {
    for (const http of https) http[Symbol.dispose]();
    await (cluster as Cluster | undefined)?.[Symbol.asyncDispose]();
  });

  /** Writers and watchers on both replicas, while `fault` takes its course. */
  async function underLoad(
    namespace: string,
    fault: (run: Run) => Promise<void>,
  ): Promise<{ readonly run: Run; readonly watchers: readonly Watcher[] }> {
    const run = await Run.start(cluster, https[0]!, namespace);
    const random = seededRandom(SEED);
    const stop = new AbortController();
    const watchers = https.flatMap((http, i) => [
      run.watch({ name: `stayer-${i}`, https: [http], after: 'state' }),
      run.watch({
        name: `wanderer-${i}`,
        https: i === 0 ? https : [...https].reverse(),
        after: 'state',
        streamSeconds: 3,
      }),
    ]);
    const working = [...https, ...https].map((http, i) =>
      runTraffic(run.recorder(`writer-${i}`, http), { random, signal: stop.signal, callsPerSecond: 40 }),
    );
    await delay(PHASE_MS);
    await fault(run);
    await untilReady();
    await delay(PHASE_MS);
    stop.abort();
    await Promise.all(working);
    return { run, watchers };
  }

  async function untilReady(): Promise<void> {
    const deadline = Date.now() + 20_000;
    for (const replica of cluster.replicas) {
      while (!(await replica.isReady())) {
        if (Date.now() > deadline) throw new Error(`a replica does not recover: ${replica.log}`);
        await delay(100);
      }
    }
  }

  /** What is answered from memory may lag behind the store for a while after an outage, whatever else has been read. */
  async function untilCached(client: Recorder, revision: number): Promise<void> {
    await patiently(async () => expect((await client.get('a', { type: 'any' }))?.revision).toBe(revision));
  }

  it('lose nothing and invent nothing when it is killed and comes back', async () => {
    const { run, watchers } = await underLoad('etcd-killed', async () => {
      await cluster.etcd.kill();
      await delay(1_500);
      await cluster.etcd.run();
    });
    expect(await run.problems()).toEqual([]);
    expect(watchers.flatMap(({ refusals }) => refusals).filter(({ code }) => code === 410)).toEqual([]);
  }, 90_000);

  it('lose nothing and invent nothing when it stops for a while', async () => {
    const { run, watchers } = await underLoad('etcd-paused', async () => {
      cluster.etcd.pause();
      await delay(3_000);
      cluster.etcd.resume();
    });
    expect(await run.problems()).toEqual([]);
    expect(watchers.flatMap(({ refusals }) => refusals).filter(({ code }) => code === 410)).toEqual([]);
  }, 90_000);

  it('need no new list when it is compacted all the time', async () => {
    const { run, watchers } = await underLoad('etcd-compacted', async () => {
      for (let round = 0; round < 15; round++) {
        const seen = await cluster.store.currentRevision();
        await delay(150);
        await cluster.store.compact(seen);
      }
    });
    expect(await run.problems()).toEqual([]);
    expect(watchers.flatMap(({ refusals }) => refusals)).toEqual([]);
    expect(run.log.failures).toEqual([]);
  }, 90_000);

  it('say 410 to those who ask for what has been compacted, unless they remember it', async () => {
    const run = await Run.start(cluster, https[0]!, 'compacted');
    const writer = run.recorder('writer', https[0]!);
    const first = await writer.create('a', { [TOKEN_FIELD]: 'first' });
    const after = first!.revision;
    for (let i = 0; i < 3; i++) await writer.patch('a', { [TOKEN_FIELD]: `patched-${i}` });
    const newest = await cluster.store.currentRevision();
    await run.problems();
    await cluster.store.compact(newest);
    await cluster.replicas[1]!.kill();
    await cluster.replicas[1]!.start();
    const remembering = run.watch({ name: 'remembering', https: [https[0]!], after });
    const forgetful = run.watch({ name: 'forgetful', https: [https[1]!], after });
    expect(await remembering.until(newest - 1, 5_000)).toBe(true);
    await forgetful.until(Infinity, 5_000);
    expect(forgetful.refusals).toMatchObject([{ code: 410, reason: 'Expired' }]);
    await Promise.all([remembering.stop(), forgetful.stop()]);
  }, 60_000);

  it('resume from the store the watches that a restarted one no longer remembers', async () => {
    const run = await Run.start(cluster, https[0]!, 'restarted');
    const writer = run.recorder('writer', https[0]!);
    const first = await writer.create('a', { [TOKEN_FIELD]: 'first' });
    for (let i = 0; i < 10; i++)
      await writer.patch('a', { [TOKEN_FIELD]: `patched-${i}`, parity: i % 3 === 0 ? 'even' : 'odd' });
    await cluster.replicas[1]!.kill();
    await cluster.replicas[1]!.start();
    const filter = { field: 'parity', value: 'even' };
    const watchers = [
      run.watch({ name: 'all', https: [https[1]!], after: first!.revision }),
      run.watch({ name: 'even', https: [https[1]!], after: first!.revision, filter }),
    ];
    for (let i = 0; i < 5; i++)
      await writer.patch('a', { [TOKEN_FIELD]: `more-${i}`, parity: i % 2 === 0 ? 'even' : 'odd' });
    expect(await run.problems()).toEqual([]);
    expect(watchers.flatMap(({ refusals }) => refusals)).toEqual([]);
  }, 60_000);

  it('say so while it is away, serve what they remember to those who take that, and recover by themselves', async () => {
    const run = await Run.start(cluster, https[0]!, 'away');
    const client = run.recorder('client', https[0]!);
    const version = await client.create('a', { [TOKEN_FIELD]: 'before' });
    await untilCached(client, version!.revision);
    const send = (
      method: string,
      path: string,
      body?: object,
    ): Promise<{ status: number; body: { message?: string } }> => https[0]!.send(method, `${run.path}${path}`, body);
    const ask = async (path: string): Promise<number> => (await send('GET', path)).status;
    await cluster.etcd.kill();

    const readiness = await cluster.replicas[0]!.check('/readyz');
    expect([readiness.status, readiness.text]).toEqual([500, expect.stringContaining('[-]etcd failed')]);
    expect(await ask('/a?resourceVersion=0')).toBe(200);
    expect(await ask('?resourceVersion=0')).toBe(200);
    expect(await ask(`/a?resourceVersion=${version!.revision}`)).toBe(200);
    for (const path of ['/a', '', '?limit=1']) {
      const { status, body } = await send('GET', path);
      expect([status, body.message]).toEqual([500, expect.stringContaining('etcd')]);
    }
    const create = await send('POST', '', { metadata: { name: 'b' } });
    expect([create.status, create.body.message]).toEqual([500, expect.stringContaining('etcd')]);

    await cluster.etcd.run();
    await untilReady();
    expect(await ask('/a')).toBe(200);
    expect(await ask('/b')).toBe(404);
    expect((await client.patch('a', { [TOKEN_FIELD]: 'after' }))?.fields[TOKEN_FIELD]).toBe('after');
    expect(await run.problems()).toEqual([]);
  }, 60_000);

  it('answer readers who accept any state with what they have, at once, while it does not move', async () => {
    const run = await Run.start(cluster, https[0]!, 'stuck');
    const client = run.recorder('client', https[0]!);
    const version = await client.create('a', { [TOKEN_FIELD]: 'before' });
    await untilCached(client, version!.revision);
    cluster.etcd.pause();
    for (let i = 0; i < 20; i++) expect((await client.get('a', { type: 'any' }))?.revision).toBe(version!.revision);
    // Whoever wants the newest state gets it or nothing.
    await expect(client.get('a')).rejects.toThrow();
    cluster.etcd.resume();
    await untilReady();
    expect((await client.get('a'))?.revision).toBe(version!.revision);
    expect(await run.problems()).toEqual([]);
  }, 60_000);
});

describeWithEtcd('a replica whose etcd is full', () => {
  it('refuses writes with the cause, goes on reading, and writes again when there is room', async () => {
    await using cluster = await Cluster.start({ replicas: 1, etcdFlags: ['--quota-backend-bytes=4000000'] });
    using http = cluster.client(0);
    const path = '/api/v1/namespaces/default/configmaps';
    const filling = { text: 'x'.repeat(200_000) };
    const create = (name: string, data: object): ReturnType<HttpClient['send']> =>
      http.send('POST', path, { metadata: { name }, data });
    const names: string[] = [];
    let refused: { status: number; body: { message?: string } } | undefined;
    for (let i = 0; i < 100 && refused === undefined; i++) {
      const response = await create(`big-${i}`, filling);
      if (response.status === 201) names.push(`big-${i}`);
      else refused = response;
    }
    const full = { status: 500, body: { kind: 'Status', message: expect.stringContaining('space exceeded') } };
    expect(refused).toMatchObject(full);
    expect(await create('small', {})).toMatchObject(full);
    const patch = await http.send('PATCH', `${path}/big-0`, { data: { a: 'b' } }, 'application/merge-patch+json');
    expect(patch).toMatchObject(full);
    expect((await http.send('GET', `${path}/big-0`)).status).toBe(200);
    expect((await http.send('GET', `${path}?limit=2`)).body.items).toHaveLength(2);
    const replica = cluster.replicas[0]!;
    // Probes share an answer for a moment.
    await patiently(async () => {
      expect(await replica.check('/readyz')).toMatchObject({
        status: 500,
        text: expect.stringContaining('[-]storage-space'),
      });
    });
    expect(await replica.probe('/livez')).toBe(200);

    // As an administrator would: forget what is past, give its space back, disarm. Deletions are let through by etcd.
    for (const name of names.slice(1)) expect((await http.send('DELETE', `${path}/${name}`)).status).toBe(200);
    await cluster.store.compact(await cluster.store.currentRevision());
    const administrator = new Etcd3({ hosts: cluster.etcd.endpoint });
    await administrator.maintenance.defragment();
    const { alarms } = await administrator.maintenance.alarm({});
    for (const { memberID, alarm } of alarms) {
      await administrator.maintenance.alarm({ action: AlarmAction.Deactivate, memberID, alarm });
    }
    administrator.close();
    expect((await create('small', {})).status).toBe(201);
    await patiently(async () => {
      if (!(await replica.isReady())) throw new Error('still not ready');
    });
    expect((await http.send('GET', `${path}/big-0`)).status).toBe(200);
    expect((await http.send('GET', path)).body.items.map(({ metadata: { name } }) => name)).toEqual(
      expect.arrayContaining(['big-0', 'small']),
    );
  }, 60_000);
});

describeWithEtcd('a replica whose etcd wants certificates', () => {
  it('shows its own, trusts only their authority, and goes past an endpoint that is dead', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sternpost-etcd-tls-'));
    const tls = await writeTestCertificates(folder, (path, content) => writeFile(path, content));
    await using etcd = await EtcdServer.start({ tls });
    const [port, deadPort] = (await freePorts(2)) as [number, number];
    const endpoints = `--etcd-servers=https://127.0.0.1:${deadPort},${etcd.endpoint}`;
    const identity = [`--etcd-certfile=${tls.certificate}`, `--etcd-keyfile=${tls.key}`];
    const server = (flags: readonly string[]): ServerProcess =>
      new ServerProcess({ dataDir: folder, port, flags: [endpoints, ...flags] });

    await using stranger = server([`--etcd-cafile=${tls.ca}`]);
    await expect(stranger.start()).rejects.toThrow('the server ended');
    await using replica = server([`--etcd-cafile=${tls.ca}`, ...identity]);
    await replica.start();
    using http = new HttpClient(port, credentialsOf(folder));
    const path = '/api/v1/namespaces/default/configmaps';
    expect((await http.send('POST', path, { metadata: { name: 'a' } })).status).toBe(201);
    expect((await http.send('GET', `${path}/a`)).status).toBe(200);
    await rm(folder, { recursive: true });
  }, 60_000);
});
