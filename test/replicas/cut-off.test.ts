import { setTimeout as delay } from 'node:timers/promises';
import { TOKEN_FIELD } from '../history/history';
import { describeWithEtcd } from '../support/etcd-server';
import { Cluster, Run } from './support/cluster';
import type { HttpClient, Json } from './support/http-client';
import type { ServerProcess } from './support/server-process';

/** How long a request may wait; then its client hears that the server has given up. */
const TIMEOUT = 'timeout=4500ms';

describeWithEtcd('a replica that is cut off from etcd while another one is not', () => {
  let cluster: Cluster;
  let connected: HttpClient;
  let cutOff: HttpClient;
  let replica: ServerProcess;

  beforeAll(async () => {
    // The last one reaches etcd over the link.
    cluster = await Cluster.start({ replicas: 2, lagMs: 1 });
    replica = cluster.replicas[1]!;
    connected = cluster.client(0);
    cutOff = cluster.client(1);
  }, 90_000);

  afterEach(() => cluster.link.mend());

  afterAll(async () => {
    for (const http of [connected, cutOff] as (HttpClient | undefined)[]) http?.[Symbol.dispose]();
    await (cluster as Cluster | undefined)?.[Symbol.asyncDispose]();
  });

  async function ask(path: string): Promise<{ readonly status: number; readonly body: Json }> {
    return cutOff.send('GET', path);
  }

  it('never answers from a state older than it promised, and catches up', async () => {
    const run = await Run.start(cluster, connected, 'cut');
    const [writer, reader] = [run.recorder('writer', connected), run.recorder('reader', cutOff)];
    const old = (await writer.create('a', { [TOKEN_FIELD]: 'old' }))!;
    expect((await reader.get('a'))?.revision).toBe(old.revision);
    const watcher = run.watch({ name: 'watcher', https: [cutOff], after: old.revision });
    cluster.link.cut();
    const newer = (await writer.patch('a', { [TOKEN_FIELD]: 'newer' }))!;

    // Any state will do for these, and an old one was asked for by those.
    expect((await reader.get('a', { type: 'any' }))?.revision).toBe(old.revision);
    expect((await reader.list({ type: 'any' })).items.get('a')?.revision).toBe(old.revision);
    expect((await reader.get('a', { type: 'not older than', revision: old.revision }))?.revision).toBe(old.revision);

    const tooNew = `resourceVersion=${newer.revision}`;
    const refused = await Promise.all([
      ...['/a', '', '?limit=1'].map((path) => ask(`${run.path}${path}${path.includes('?') ? '&' : '?'}${TIMEOUT}`)),
      ...['/a?', '?'].map((path) => ask(`${run.path}${path}${TIMEOUT}&${tooNew}`)),
      ask(`${run.path}?${TIMEOUT}&${tooNew}&resourceVersionMatch=NotOlderThan`),
      ask(`${run.path}?${TIMEOUT}&${tooNew}&resourceVersionMatch=Exact`),
    ]);
    for (const { status, body } of refused) {
      expect(status).toBeGreaterThanOrEqual(500);
      expect(body).toMatchObject({ kind: 'Status', code: status });
    }
    for (const { body } of refused.slice(3, 6)) {
      expect(body).toMatchObject({ reason: 'Timeout', message: expect.stringMatching(/Too large resource version/) });
    }
    expect(watcher.reached).toBe(old.revision);

    cluster.link.mend();
    expect((await reader.get('a'))?.revision).toBe(newer.revision);
    expect((await reader.get('a', { type: 'not older than', revision: newer.revision }))?.revision).toBe(
      newer.revision,
    );
    expect(await run.problems()).toEqual([]);
  }, 60_000);

  it('waits for a resourceVersion of the future, and answers as soon as it is there', async () => {
    const run = await Run.start(cluster, connected, 'future');
    const [writer, reader] = [run.recorder('writer', connected), run.recorder('reader', cutOff)];
    const first = (await writer.create('a', { [TOKEN_FIELD]: 'first' }))!;
    const waiting = [
      reader.get('a', { type: 'not older than', revision: first.revision + 1 }),
      run.recorder('lister', cutOff).list({ type: 'not older than', revision: first.revision + 1 }),
    ];
    await delay(500);
    await writer.patch('a', { [TOKEN_FIELD]: 'second' });
    const [found, list] = await Promise.all(waiting);
    expect(found?.revision).toBeGreaterThan(first.revision);
    expect(list?.revision).toBeGreaterThan(first.revision);

    const started = performance.now();
    const { status, body } = await ask(`${run.path}/a?resourceVersion=${first.revision + 1_000_000}`);
    expect([status, body.reason]).toEqual([504, 'Timeout']);
    expect(performance.now() - started).toBeGreaterThan(2_500);
    expect(await run.problems()).toEqual([]);
  }, 60_000);

  it('is not ready, and says why', async () => {
    expect(await replica.isReady()).toBe(true);
    cluster.link.cut();
    // Probes share an answer for a moment.
    let response = await replica.check('/readyz');
    while (response.status === 200) response = await replica.check('/readyz');
    expect(response.status).toBe(500);
    expect(response.text).toContain('[-]etcd failed');
    expect(response.text).toContain('[+]ping ok');
    cluster.link.mend();
    await replica.untilReady();
  }, 60_000);

  it('serves nobody when it starts so, and then only the newest state', async () => {
    const run = await Run.start(cluster, connected, 'started');
    const [writer, reader] = [run.recorder('writer', connected), run.recorder('reader', cutOff)];
    await writer.create('a', { [TOKEN_FIELD]: 'old' });
    await replica.kill();
    cluster.link.cut();
    replica.launch();
    await delay(1_500);
    const newer = (await writer.patch('a', { [TOKEN_FIELD]: 'newer' }))!;
    expect(await replica.probe('/readyz')).not.toBe(200);
    await expect(reader.get('a', { type: 'any' })).rejects.toThrow();
    cluster.link.mend();
    await replica.untilReady();
    expect((await reader.get('a', { type: 'any' }))?.revision).toBe(newer.revision);
    expect(await run.problems()).toEqual([]);
  }, 60_000);
});
