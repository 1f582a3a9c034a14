import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EtcdClient } from './client';
import { compactRound, FIRST_ROUND } from './compactor';
import { EtcdError } from './etcd-error';
import { openEtcdStore, startCompactor, type EtcdStore, type EtcdStoreOptions } from './etcd-store';
import { LeasePool } from './leases';
import { range } from './messages';
import { etcdClients } from '../../../test/support/etcd-clients';
import { EtcdServer, describeWithEtcd } from '../../../test/support/etcd-server';
import { writeTestCertificates } from '../../../test/support/certificates';
import { WatchRecorder } from '../../../test/contract/watch-recorder';
import type { Revision, WriteOutcome } from '../store';

const revisionOf = (outcome: WriteOutcome): Revision => {
  if (!outcome.ok) throw new Error('the write failed its compare');
  return outcome.revision;
};

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describeWithEtcd.each(etcdClients)('the etcd store over %s', (_, openEndpoint) => {
  const opened: EtcdStore[] = [];
  const clients: EtcdClient[] = [];
  let server: EtcdServer;

  beforeAll(async () => {
    server = await EtcdServer.start();
  }, 30_000);

  afterAll(async () => {
    await server.stop();
  });

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
    for (const client of clients.splice(0)) client.close();
  });

  async function open(options: Partial<EtcdStoreOptions> = {}): Promise<EtcdStore> {
    const store = await openEtcdStore({ endpoints: [server.endpoint], openEndpoint, ...options });
    opened.push(store);
    return store;
  }

  function connect(endpoint: string, requestTimeoutMs = 5000): EtcdClient {
    const client = new EtcdClient({ endpoints: [endpoint], requestTimeoutMs, openEndpoint });
    clients.push(client);
    return client;
  }

  /** A port on which nothing listens. */
  async function deadEndpoint(): Promise<string> {
    const listener = createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as { readonly port: number };
    await once(listener.close(), 'close');
    return `http://127.0.0.1:${port}`;
  }

  describe('whose server goes away', () => {
    it('resumes its watches without loss when the server comes back', async () => {
      await using own = await EtcdServer.start();
      const store = await open({ endpoints: [own.endpoint] });
      const written: Revision[] = [];
      const recorder = new WatchRecorder(store, '/w/', await store.currentRevision());
      for (let round = 0; round < 3; round++) {
        for (let index = 0; index < 20; index++) {
          written.push(revisionOf(await store.create(`/w/${round}-${index}`, Buffer.from('x'))));
        }
        await own.kill();
        await sleep(100);
        await own.run();
        await until(() =>
          store.health().then(
            () => true,
            () => false,
          ),
        );
        written.push(revisionOf(await store.create(`/w/${round}-after`, Buffer.from('x'))));
      }
      const events = await recorder.untilEvents(written.length);
      await recorder.stop();
      expect(events.map((event) => event.revision)).toEqual(written);
    }, 60_000);

    it('reads through a short absence, and says clearly when it lasts', async () => {
      await using own = await EtcdServer.start();
      const store = await open({ endpoints: [own.endpoint] });
      await store.create('/a', Buffer.from('one'));
      await own.kill();
      const problem = await store.get('/a').catch((error: unknown) => error);
      expect(problem).toBeInstanceOf(EtcdError);
      expect(problem).toMatchObject({ problem: 'unavailable', message: expect.stringContaining(own.endpoint) });
      await expect(store.health()).rejects.toThrow(EtcdError);
      await expect(store.create('/b', Buffer.from('x'))).rejects.toMatchObject({ problem: 'unavailable' });
      await own.run();
      await until(() =>
        store.health().then(
          () => true,
          () => false,
        ),
      );
      expect((await store.get('/a'))?.value.toString()).toBe('one');
    }, 60_000);

    it('goes on with another endpoint', async () => {
      const store = await open({ endpoints: [await deadEndpoint(), server.endpoint, await deadEndpoint()] });
      const start = await store.currentRevision();
      const recorder = new WatchRecorder(store, '/failover/', start);
      const revision = revisionOf(await store.create('/failover/a', Buffer.from('one')));
      expect((await store.get('/failover/a'))?.revision).toBe(revision);
      await recorder.untilEvents(1);
      await recorder.stop();
    });

    it('is opened at once when one of its endpoints hangs', async () => {
      const hanging = createServer().listen(0, '127.0.0.1');
      await once(hanging, 'listening');
      const { port } = hanging.address() as { readonly port: number };
      const store = await open({ endpoints: [`http://127.0.0.1:${port}`, server.endpoint], requestTimeoutMs: 30_000 });
      expect(await store.currentRevision()).toBeGreaterThan(0);
      await store.close();
      hanging.close();
    }, 20_000);

    it('cannot be opened when no endpoint answers', async () => {
      const dead = await deadEndpoint();
      await expect(openEtcdStore({ endpoints: [dead], requestTimeoutMs: 1000, openEndpoint })).rejects.toThrow(
        `etcd ${dead}: `,
      );
      await expect(openEtcdStore({ endpoints: [] })).rejects.toThrow(RangeError);
    });
  });

  describe('whose server does not answer', () => {
    it('gives up after the timeout, or when the caller does', async () => {
      // Takes connections and says nothing.
      const sockets: Socket[] = [];
      const mute = createServer((socket) => sockets.push(socket.on('error', () => undefined))).listen(0, '127.0.0.1');
      await once(mute, 'listening');
      const endpoint = `http://127.0.0.1:${(mute.address() as { readonly port: number }).port}`;
      const client = connect(endpoint, 300);
      const call = (signal?: AbortSignal) =>
        client.call(range, { key: Buffer.from('a') }, { isRepeatable: false, signal });
      await expect(call()).rejects.toMatchObject({
        name: 'EtcdError',
        problem: expect.stringMatching(/timeout|unavailable/),
      });
      const leaving = new AbortController();
      setTimeout(() => leaving.abort(new Error('the client left')), 20);
      await expect(call(leaving.signal)).rejects.toThrow('the client left');
      mute.close();
      for (const socket of sockets) socket.destroy();
    });
  });

  describe('whose server refuses', () => {
    it('says that there is no space left', async () => {
      await using own = await EtcdServer.start({ flags: ['--quota-backend-bytes=1000000'] });
      const store = await open({ endpoints: [own.endpoint] });
      // Etcd looks ten times a second how much it stores.
      const fill = async (): Promise<void> => {
        for (let index = 0; index < 1000; index++) await store.create(`/${index}`, Buffer.alloc(500_000));
      };
      await expect(fill()).rejects.toMatchObject({ problem: 'no-space', message: expect.stringContaining('quota') });
      expect((await store.get('/0'))?.value.length).toBe(500_000);
    }, 30_000);

    it('says that a value is too large', async () => {
      const store = await open();
      await expect(store.create('/large', Buffer.alloc(1_600_000))).rejects.toMatchObject({ problem: 'too-large' });
    });
  });

  describe('over TLS', () => {
    let folder: string;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'sternpost-tls-'));
    });

    afterAll(async () => {
      await rm(folder, { recursive: true });
    });

    it('shows its certificate, and trusts only its own authority', async () => {
      const files = await writeTestCertificates(folder, writeFile);
      await using own = await EtcdServer.start({ tls: files });
      const [ca, certificate, key] = await Promise.all(
        [files.ca, files.certificate, files.key].map((path) => readFile(path)),
      );
      const tls = { ca: ca!, certificate: certificate!, key: key! };
      const store = await open({ endpoints: [own.endpoint], tls });
      const revision = revisionOf(await store.create('/a', Buffer.from('one')));
      expect((await store.get('/a'))?.revision).toBe(revision);

      const short = { endpoints: [own.endpoint], requestTimeoutMs: 1000, openEndpoint };
      await expect(openEtcdStore({ ...short, tls: { ca: tls.ca } })).rejects.toThrow(EtcdError);
      await expect(openEtcdStore(short)).rejects.toThrow(EtcdError);
    }, 30_000);
  });

  describe('with a prefix', () => {
    it('keeps to the keys below it, and shows them without it', async () => {
      const plain = await open();
      const inside = await open({ prefix: '/tenant-a' });
      await plain.create('/tenant-b/x', Buffer.from('b'));
      const start = await plain.currentRevision();
      const revision = revisionOf(await inside.create('/x', Buffer.from('a')));
      expect((await plain.get('/tenant-a/x'))?.revision).toBe(revision);
      const list = await inside.list({ prefix: '/' });
      expect(list.ok && list.items.map((item) => item.key)).toEqual(['/x']);
      const recorder = new WatchRecorder(inside, '/', start);
      expect((await recorder.untilEvents(1))[0]).toMatchObject({ key: '/x', revision });
      await recorder.stop();
    });
  });

  describe('its lists', () => {
    it('are read in pages of one revision', async () => {
      const store = await open();
      await Promise.all(
        Array.from({ length: 1200 }, (_, index) =>
          store.create(`/paged/${String(index).padStart(4, '0')}`, Buffer.alloc(index % 7 === 0 ? 50_000 : 10)),
        ),
      );
      const list = await store.list({ prefix: '/paged/' });
      if (!list.ok) throw new Error(list.reason);
      expect(list.items.map((item) => item.key)).toEqual(
        Array.from({ length: 1200 }, (_, index) => `/paged/${String(index).padStart(4, '0')}`),
      );
      expect(list.remaining).toBe(0);
      const part = await store.list({ prefix: '/paged/', limit: 700, start: '/paged/0100' });
      expect(part).toMatchObject({ ok: true, remaining: 400 });
      expect(part.ok && part.items.length).toBe(700);
    }, 30_000);
  });

  describe('its leases', () => {
    const leases = (now: () => number): LeasePool => new LeasePool(connect(server.endpoint), now);

    it('are shared while what is left of them fits', async () => {
      let now = 1_000_000;
      const pool = leases(() => now);
      const first = await pool.leaseFor(3600);
      expect(await pool.leaseFor(3600)).toBe(first);
      now += 59_000;
      expect(await pool.leaseFor(3600)).toBe(first);
      now += 1_000;
      const second = await pool.leaseFor(3600);
      expect(second).not.toBe(first);
      expect(await pool.leaseFor(1800)).not.toBe(second);
    });

    it('are shared by callers that come at once, and by a thousand keys at most', async () => {
      const pool = leases(() => 1_000_000);
      const ids = await Promise.all(Array.from({ length: 10 }, () => pool.leaseFor(600)));
      expect(new Set(ids).size).toBe(1);
      for (let count = ids.length; count < 1000; count++) ids.push(await pool.leaseFor(600));
      expect(new Set(ids).size).toBe(1);
      expect(await pool.leaseFor(600)).not.toBe(ids[0]);
    });

    it('are replaced when the server has lost them', async () => {
      let now = 1_000_000;
      const store = await open({ clock: () => now });
      await store.create('/lease/a', Buffer.from('one'), { ttlSeconds: 30 });
      const first = await store.get('/lease/a');
      await revokeAllLeases(server.endpoint);
      now += 500;
      await store.create('/lease/b', Buffer.from('one'), { ttlSeconds: 30 });
      expect(first).toBeDefined();
      expect(await store.get('/lease/b')).toBeDefined();
    });

    it('let keys live for at least as long as they asked for', async () => {
      const store = await open();
      const revision = revisionOf(await store.create('/lease/ttl', Buffer.from('one'), { ttlSeconds: 2 }));
      await sleep(1500);
      expect((await store.get('/lease/ttl'))?.revision).toBe(revision);
    });
  });

  describe('its compactor', () => {
    it('lets one of several replicas win each round, and keeps what a round ago was the present', async () => {
      await using own = await EtcdServer.start();
      const store = await open({ endpoints: [own.endpoint] });
      const client = connect(own.endpoint);
      const first = await compactRound(client, FIRST_ROUND);
      const late = await compactRound(client, FIRST_ROUND);
      expect(first.version).toBe(1);
      expect(late.version).toBe(1);
      expect((await store.get('compact_rev_key'))?.value.toString()).toBe('0');

      const before = revisionOf(await store.create('/a', Buffer.from('one')));
      const second = await compactRound(client, first);
      expect((await store.get('compact_rev_key'))?.value.toString()).toBe(String(first.revision));
      const third = await compactRound(client, second);
      expect(third.version).toBe(3);
      expect(await store.list({ prefix: '/', revision: (second.revision - 1) as Revision })).toMatchObject({
        ok: false,
        reason: 'compacted',
      });
      expect((await store.list({ prefix: '/', revision: second.revision })).ok).toBe(true);
      expect(before).toBeLessThan(second.revision);

      const loser = await compactRound(client, late);
      expect(loser.version).toBe(3);
    }, 30_000);

    it('runs until it is stopped', async () => {
      await using own = await EtcdServer.start();
      const store = await open({ endpoints: [own.endpoint] });
      const first = revisionOf(await store.create('/a', Buffer.from('one')));
      await store.update('/a', Buffer.from('two'), first);
      const compactor = startCompactor(store, 30);
      await until(async () => !(await store.list({ prefix: '/', revision: first })).ok);
      await compactor.stop();
      const rounds = (await store.get('compact_rev_key'))?.revision;
      await sleep(100);
      expect((await store.get('compact_rev_key'))?.revision).toBe(rounds);
    }, 30_000);
  });
});

async function revokeAllLeases(endpoint: string): Promise<void> {
  const { Etcd3 } = await import('etcd3');
  const etcd = new Etcd3({ hosts: endpoint });
  const { leases } = await etcd.leaseClient.leaseLeases();
  await Promise.all(leases.map(({ ID }) => etcd.leaseClient.leaseRevoke({ ID })));
  etcd.close();
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('gave up waiting');
    await sleep(20);
  }
}
