import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import { describeWithEtcd } from '../support/etcd-server';
import { Cluster } from './support/cluster';
import type { HttpClient } from './support/http-client';

const STALLED = 8;
const OBJECT_BYTES = 900_000;
/** More than the history that a server keeps: 128 MiB. */
const EVENTS = 170;
/** The server itself and its history, but not what all the stalled watchers have been sent: 1.2 GB. */
const MAX_RSS_BYTES = 800_000_000;
const PATH = '/api/v1/namespaces/default/configmaps';
const KEY = '/registry/configmaps/default/big';
const PATIENCE_MS = 30_000;

/** Asks for a watch, and never reads what it is answered. */
async function stalledWatch(cluster: Cluster, after: string): Promise<TLSSocket> {
  const socket = connect({ ...cluster.credentials(), host: '127.0.0.1', port: cluster.replicas[0]!.port });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  socket.pause();
  socket.write(`GET ${PATH}?watch=1&resourceVersion=${after} HTTP/1.1\r\nHost: server\r\n\r\n`);
  return socket;
}

/** The value of a metric's samples with these words in their labels, added up. */
async function metric(http: HttpClient, name: string, ...words: readonly string[]): Promise<number> {
  return (await http.text('/metrics'))
    .split('\n')
    .filter((line) => line.startsWith(name) && words.every((word) => line.includes(word)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

describeWithEtcd('watchers that never read', () => {
  it('are dropped when they are too far behind, cost little until then, and hold nobody up', async () => {
    await using cluster = await Cluster.start({ replicas: 1 });
    using http = cluster.client(0, PATIENCE_MS);
    const watches = (): Promise<number> =>
      metric(http, 'apiserver_longrunning_requests{', 'verb="WATCH"', 'resource="configmaps"');
    const untilWatches = async (count: number): Promise<void> => {
      for (const deadline = Date.now() + PATIENCE_MS; (await watches()) !== count; await delay(100)) {
        if (Date.now() > deadline) throw new Error(`there are ${await watches()} watches instead of ${count}`);
      }
    };
    const data = { text: 'x'.repeat(OBJECT_BYTES) };
    const created = await http.send('POST', PATH, { metadata: { name: 'big' }, data });
    const after = created.body.metadata.resourceVersion;
    const before = await watches();

    const stop = new AbortController();
    const heard: string[] = [];
    const listening = (async () => {
      const query = `watch=1&resourceVersion=${after}`;
      for await (const { object } of http.lines(`${PATH}?${query}`, stop.signal))
        heard.push(object.metadata.resourceVersion);
    })().catch(() => undefined);
    const stalled = await Promise.all(Array.from({ length: STALLED }, () => stalledWatch(cluster, after)));
    await untilWatches(before + 1 + STALLED);

    const written: string[] = [];
    let current = (await cluster.store.get(KEY))!;
    for (let i = 0; i < EVENTS; i++) {
      const outcome = await cluster.store.update(KEY, current.value, current.revision);
      if (!outcome.ok) throw new Error('somebody else writes');
      written.push(String(outcome.revision));
      current = { ...current, revision: outcome.revision };
    }
    for (const deadline = Date.now() + PATIENCE_MS; heard.length < EVENTS && Date.now() < deadline;) await delay(50);
    expect(heard).toEqual(written);
    expect(await metric(http, 'process_resident_memory_bytes')).toBeLessThan(MAX_RSS_BYTES);
    await untilWatches(before + 1);

    for (const socket of stalled) socket.destroy();
    stop.abort();
    await listening;
  }, 120_000);
});
