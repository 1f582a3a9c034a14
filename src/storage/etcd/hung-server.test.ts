import { openEtcdStore, type EtcdStore } from './etcd-store';
import { WatchRecorder } from '../../../test/contract/watch-recorder';
import { etcdClients } from '../../../test/support/etcd-clients';
import { describeWithEtcd, EtcdServer } from '../../../test/support/etcd-server';
import { FaultyLink } from '../../../test/support/faulty-link';
import type { Revision, WriteOutcome } from '../store';

/** No call may wait for that, or its test fails. */
const REQUEST_TIMEOUT_MS = 60_000;
const TEST_TIMEOUT_MS = 20_000;

const revisionOf = (outcome: WriteOutcome): Revision => {
  if (!outcome.ok) throw new Error('the write failed its compare');
  return outcome.revision;
};

describeWithEtcd.each(etcdClients)(
  'the etcd store over %s, when its server hangs and another one does not',
  (_, openEndpoint) => {
    let etcd: EtcdServer;
    let link: FaultyLink;
    let store: EtcdStore;

    beforeAll(async () => {
      etcd = await EtcdServer.start();
    }, 30_000);

    afterAll(async () => {
      await etcd.stop();
    });

    beforeEach(async () => {
      // Two ways to one server. The store calls the one that answers first, and the other one is cut until then.
      link = await FaultyLink.start(Number(new URL(etcd.endpoint).port));
      const second = await FaultyLink.start(Number(new URL(etcd.endpoint).port));
      second.cut();
      store = await openEtcdStore({
        endpoints: [link.endpoint, second.endpoint],
        requestTimeoutMs: REQUEST_TIMEOUT_MS,
        openEndpoint,
      });
      second.mend();
      links.push(link, second);
    });

    const links: FaultyLink[] = [];

    afterEach(async () => {
      await store.close();
      await Promise.all(links.splice(0).map((one) => one[Symbol.asyncDispose]()));
    });

    it(
      'reads from the other one',
      async () => {
        const revision = revisionOf(await store.create('/read/a', Buffer.from('one')));
        link.cut();
        const responses = await Promise.all([store.get('/read/a'), store.currentRevision(), store.health()]);
        expect(responses.slice(0, 2)).toEqual([expect.objectContaining({ revision }), revision]);
        const list = await store.list({ prefix: '/read/' });
        expect(list.ok && list.items.map(({ key }) => key)).toEqual(['/read/a']);
      },
      TEST_TIMEOUT_MS,
    );

    it(
      'repeats a change there, the first attempt does nothing when it arrives late, and watches go on',
      async () => {
        const recorder = new WatchRecorder(store, '/changed/', await store.currentRevision());
        const first = revisionOf(await store.create('/changed/a', Buffer.from('one')));
        await recorder.untilEvents(1);
        link.cut();
        const second = revisionOf(await store.update('/changed/a', Buffer.from('two'), first));
        link.mend();
        const third = revisionOf(await store.delete('/changed/a', second));
        expect(await store.get('/changed/a')).toBeUndefined();
        const events = await recorder.untilEvents(3);
        await recorder.stop();
        expect(events.map(({ revision }) => revision)).toEqual([first, second, third]);
        expect([second, third]).toEqual([first + 1, first + 2]);
      },
      TEST_TIMEOUT_MS,
    );

    it(
      'does not know the outcome of a change that happened though its answer was lost',
      async () => {
        const first = revisionOf(await store.create('/unknown/a', Buffer.from('one')));
        // The server hears all and is not heard.
        link.lagMs = 2 * REQUEST_TIMEOUT_MS;
        await expect(store.update('/unknown/a', Buffer.from('two'), first)).rejects.toMatchObject({
          problem: 'unavailable',
        });
        expect((await store.get('/unknown/a'))?.value.toString()).toBe('two');
      },
      TEST_TIMEOUT_MS,
    );

    it(
      'creates nothing twice: whether a creation happened is not known',
      async () => {
        link.cut();
        await expect(store.create('/created/a', Buffer.from('one'))).rejects.toMatchObject({ problem: 'unavailable' });
        expect(await store.get('/created/a')).toBeUndefined();
        revisionOf(await store.create('/created/a', Buffer.from('two')));
      },
      TEST_TIMEOUT_MS,
    );
  },
);
