import { setTimeout as delay } from 'node:timers/promises';
import { seededRandom } from '../history/simulated-run';
import { describeWithEtcd } from '../support/etcd-server';
import { FaultyLink } from '../support/faulty-link';
import { Cluster, Run } from './support/cluster';
import { HttpClient } from './support/http-client';
import { runTraffic } from './support/traffic';

const SEED = Number(process.env['STERNPOST_SEED'] ?? Date.now() % 100_000);
/** How long the links work before a fault, have it, and work again. */
const PHASES_MS = [300, 800, 300] as const;
/** An answer that a fault has swallowed does not come. */
const CLIENT_TIMEOUT_MS = 2_000;

interface Fault {
  readonly begin: (link: FaultyLink) => void;
  readonly end?: (link: FaultyLink) => void;
}

const FAULTS: Readonly<Record<string, Fault>> = {
  'everything arrives bit by bit': {
    begin: (link) => (link.trickles = true),
    end: (link) => (link.trickles = false),
  },
  'answers take their time': {
    begin: (link) => (link.lagMs = 150),
    end: (link) => (link.lagMs = 1),
  },
  'nothing passes for a while': {
    begin: (link) => link.cut(),
    end: (link) => link.mend(),
  },
  'connections break': {
    begin: (link) => link.break(),
    end: (link) => link.break(),
  },
  'connections end in the direction of the server': { begin: (link) => link.endRequests() },
  'connections end in the direction of the client': { begin: (link) => link.endResponses() },
};

describeWithEtcd.each(['sternpost', 'etcd3'])(`two replicas over links with faults, by %s (seed ${SEED})`, (client) => {
  let cluster: Cluster;
  /** Between clients and the first replica. */
  let link: FaultyLink;

  beforeAll(async () => {
    // The second replica reaches etcd over the cluster's link.
    cluster = await Cluster.start({ replicas: 2, lagMs: 1, lastFlags: [`--etcd-client=${client}`] });
    link = await FaultyLink.start(cluster.replicas[0]!.port);
    cluster.defer(() => link[Symbol.asyncDispose]());
  }, 90_000);

  afterAll(async () => {
    await (cluster as Cluster | undefined)?.[Symbol.asyncDispose]();
  });

  it.each(Object.entries(FAULTS))(
    'lose nothing and invent nothing when %s',
    async (name, { begin, end }) => {
      const links = [link, cluster.link];
      using linked = new HttpClient(link.port, cluster.credentials(), CLIENT_TIMEOUT_MS);
      using first = cluster.client(0, CLIENT_TIMEOUT_MS);
      using second = cluster.client(1, CLIENT_TIMEOUT_MS);
      const run = await Run.start(cluster, first, `link-${Object.keys(FAULTS).indexOf(name)}`);
      const random = seededRandom(SEED);
      const stop = new AbortController();
      const https = [linked, linked, first, second, second];
      const watchers = [linked, second].flatMap((http, i) => [
        run.watch({ name: `stayer-${i}`, https: [http], after: 'state' }),
        run.watch({ name: `wanderer-${i}`, https: [http, first], after: 'state', streamSeconds: 3 }),
      ]);
      const working = https.map((http, i) =>
        runTraffic(run.recorder(`writer-${i}`, http), { random, signal: stop.signal, callsPerSecond: 40 }),
      );
      await delay(PHASES_MS[0]);
      for (const faulty of links) begin(faulty);
      await delay(PHASES_MS[1]);
      for (const faulty of links) end?.(faulty);
      await cluster.replicas[1]!.untilReady();
      const before = run.log.calls.length;
      await delay(PHASES_MS[2]);
      stop.abort();
      await Promise.all(working);
      expect(await run.problems()).toEqual([]);
      expect(run.log.calls.length).toBeGreaterThan(before);
      expect(watchers.flatMap(({ refusals }) => refusals).filter(({ code }) => code === 410)).toEqual([]);
    },
    60_000,
  );
});
