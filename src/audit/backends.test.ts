import type { AuditBackend, ReportLoss } from './backend';
import { allBackends, withoutFailures } from './backend';
import { BatchingBackend, type BatchOptions } from './batching';
import type { AuditEvent } from './event';
import { auditEvent } from './event.fixture';
import { until } from '../../test/support/until';
import { LogBackend } from './log-backend';
import { truncatingBackend } from './truncation';
import { WebhookBackend, type PostEvents } from './webhook-backend';

let losses: [string, number][];
beforeEach(() => (losses = []));
const report: ReportLoss = (plugin, events) => void losses.push([plugin, events]);

/** Keeps what it is given, as far as it is let. */
class Keeper implements AuditBackend {
  readonly batches: (readonly AuditEvent[])[] = [];
  gate: Promise<void> | undefined;
  keeps = true;
  closed = false;

  process(events: readonly AuditEvent[]): boolean | Promise<boolean> {
    this.batches.push(events);
    return this.gate === undefined ? this.keeps : this.gate.then(() => this.keeps);
  }

  async close(): Promise<void> {
    this.closed = true;
  }

  get sizes(): readonly number[] {
    return this.batches.map(({ length }) => length);
  }
}

const events = (count: number) => Array.from({ length: count }, (_, index) => auditEvent({ auditID: String(index) }));
const turns = () => new Promise((resolve) => setTimeout(resolve, 20));
const given = (keeper: Keeper, batches: number) =>
  until(
    async () => keeper.sizes,
    ({ length }) => length >= batches,
  );

function batching(backend: AuditBackend, options: Partial<BatchOptions> = {}): BatchingBackend {
  return new BatchingBackend(
    backend,
    {
      bufferSize: 100,
      maxBatchSize: 4,
      maxWaitMs: 3_600_000,
      maxWaiting: 1e9,
      concurrency: 1,
      takesAll: false,
      ...options,
    },
    report,
  );
}

describe('batches', () => {
  it('go when they are full, in order, and never within the request that fills them', async () => {
    const keeper = new Keeper();
    const backend = batching(keeper);
    expect(backend.process(events(9))).toBe(true);
    expect(keeper.sizes).toEqual([]);
    await given(keeper, 2);
    expect(keeper.sizes).toEqual([4, 4]);
    expect(backend.waiting).toBe(1);
    await backend.close();
    expect(keeper.batches.flat().map(({ auditID }) => auditID)).toEqual([...'012345678']);
    expect(keeper.closed).toBe(true);
  });

  it('go when the first event has waited long enough', async () => {
    const keeper = new Keeper();
    const backend = batching(keeper, { maxWaitMs: 1 });
    backend.process(events(1));
    await given(keeper, 1);
    expect(keeper.sizes).toEqual([1]);
    await backend.close();
  });

  it('hold no more events than they may while the other side is slow: the rest is dropped and counted', async () => {
    const keeper = new Keeper();
    let open: () => void = () => undefined;
    keeper.gate = new Promise<void>((resolve) => (open = resolve));
    const backend = batching(keeper, { bufferSize: 10 });
    backend.process(events(4));
    await given(keeper, 1);
    for (let round = 0; round < 5; round++) expect(backend.process(events(4))).toBe(true);
    expect(backend.waiting).toBe(10);
    expect(losses.reduce((sum, [, count]) => sum + count, 0)).toBe(10);
    expect(losses[0]![0]).toBe('buffered');
    open();
    await backend.close();
    expect(keeper.batches.flat()).toHaveLength(14);
  });

  it('hold no more bytes than they may', async () => {
    const backend = batching(new Keeper(), { maxWaiting: 5_000 });
    backend.process([
      auditEvent({ requestObject: 'x'.repeat(3_000) }),
      auditEvent({ requestObject: 'x'.repeat(3_000) }),
    ]);
    expect(backend.waiting).toBe(1);
    expect(losses).toEqual([['buffered', 1]]);
    await backend.close();
  });

  it('are no more a second than they may be', async () => {
    const keeper = new Keeper();
    const backend = batching(keeper, { throttle: { qps: 0.001, burst: 2 } });
    backend.process(events(20));
    await until(
      async () => keeper.batches,
      ({ length }) => length === 2,
    );
    await turns();
    expect(keeper.sizes).toEqual([4, 4]);
    await backend.close();
    expect(keeper.batches.flat()).toHaveLength(20);
  });

  it('take all that wait where that makes no difference', async () => {
    const keeper = new Keeper();
    const backend = batching(keeper, { maxBatchSize: 1, takesAll: true });
    backend.process(events(20));
    await given(keeper, 1);
    expect(keeper.sizes).toEqual([20]);
    await backend.close();
  });
});

describe('truncation', () => {
  const limits = { maxEventSize: 2_000, maxBatchSize: 3_000 };
  const large = 'x'.repeat(3_000);

  it('takes out bodies, drops what is too large without them, and cuts batches', () => {
    const keeper = new Keeper();
    const backend = truncatingBackend(keeper, limits, report);
    const withBody = auditEvent({ level: 'Request', requestObject: JSON.stringify(large) });
    expect(backend.process([withBody])).toBe(true);
    const [kept] = keeper.batches.pop()!;
    expect(kept).toMatchObject({ requestObject: '', responseObject: '' });
    expect(kept!.annotations.get('audit.k8s.io/truncated')).toBe('true');
    expect(backend.process([auditEvent({ requestURI: large })])).toBe(false);
    expect(losses).toEqual([['truncate', 1]]);
    void backend.process(events(8));
    expect(keeper.batches.length).toBeGreaterThan(1);
    expect(keeper.batches.flat()).toHaveLength(8);
  });
});

describe('the log', () => {
  const outputOf = (write: (text: string) => void) => ({
    write,
    writeLater: async (text: string) => write(text),
    close: async () => undefined,
  });

  it('is one write a turn in mode blocking', async () => {
    const writes: string[] = [];
    const backend = new LogBackend(
      outputOf((text) => writes.push(text)),
      'json',
      'blocking',
      report,
    );
    for (const event of events(3)) expect(backend.process([event])).toBe(true);
    expect(writes).toHaveLength(0);
    await turns();
    expect(writes).toHaveLength(1);
    expect(
      writes[0]!
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { auditID: string }).auditID),
    ).toEqual([...'012']);
    void backend.process(events(1));
    await backend.close();
    expect(writes).toHaveLength(2);
  });

  it('is written before the request goes on in mode blocking-strict, and says when it cannot be', () => {
    const writes: string[] = [];
    const strict = new LogBackend(
      outputOf((text) => writes.push(text)),
      'legacy',
      'blocking-strict',
      report,
    );
    expect(strict.process(events(1))).toBe(true);
    expect(writes).toHaveLength(1);
    const full = outputOf(() => {
      throw new Error('no space');
    });
    expect(new LogBackend(full, 'json', 'blocking-strict', report).process(events(1))).toBe(false);
    expect(losses).toEqual([['log', 1]]);
  });

  it('counts what a full disk loses while nobody waits', async () => {
    const full = outputOf(() => {
      throw new Error('no space');
    });
    const backend = batching(new LogBackend(full, 'json', 'batch', report), { maxBatchSize: 1, takesAll: true });
    expect(backend.process(events(3))).toBe(true);
    await backend.close();
    expect(losses).toEqual([['log', 3]]);
  });
});

describe('a webhook', () => {
  const backendWith = (post: PostEvents) =>
    new WebhookBackend({ post, initialBackoffMs: 1, close: () => undefined }, report);

  it('gets a list, in which events have neither kind nor version', async () => {
    const lists: string[] = [];
    const backend = backendWith(async (list) => (lists.push(list), { status: 200, retryAfterSeconds: undefined }));
    await expect(backend.process(events(2))).resolves.toBe(true);
    const list = JSON.parse(lists[0]!) as { kind: string; apiVersion: string; items: Record<string, unknown>[] };
    expect(list).toMatchObject({ kind: 'EventList', apiVersion: 'audit.k8s.io/v1', metadata: {} });
    expect(list.items.map(({ auditID, kind }) => [auditID, kind])).toEqual([
      ['0', undefined],
      ['1', undefined],
    ]);
  });

  it.each<[number, number]>([
    [500, 5],
    [429, 5],
    [400, 1],
    [302, 1],
  ])('that answers %s is asked %s times, and its events are lost', async (status, times) => {
    let calls = 0;
    const backend = backendWith(async () => (calls++, { status, retryAfterSeconds: undefined }));
    await expect(backend.process(events(2))).resolves.toBe(false);
    expect(calls).toBe(times);
    expect(losses).toEqual([['webhook', 2]]);
  });

  it('that is not there is tried again', async () => {
    let calls = 0;
    const backend = backendWith(async () => {
      if (++calls < 3) throw new Error('refused');
      return { status: 201, retryAfterSeconds: undefined };
    });
    await expect(backend.process(events(1))).resolves.toBe(true);
    expect(losses).toEqual([]);
  });

  it('is not waited for when the server ends', async () => {
    const backend = new WebhookBackend(
      {
        post: async () => ({ status: 500, retryAfterSeconds: undefined }),
        initialBackoffMs: 3_600_000,
        close: () => undefined,
      },
      report,
    );
    const kept = backend.process(events(1));
    await backend.close();
    await expect(kept).resolves.toBe(false);
  });
});

describe('several backends', () => {
  it('all get every event, and one that fails is enough for a failure, unless failures do not count', async () => {
    const [one, other] = [new Keeper(), new Keeper()];
    other.keeps = false;
    expect(allBackends([one, other]).process(events(1))).toBe(false);
    expect(allBackends([one, withoutFailures(other)]).process(events(1))).toBe(true);
    other.gate = Promise.resolve();
    await expect(allBackends([one, other]).process(events(1))).resolves.toBe(false);
    expect(one.batches).toHaveLength(3);
  });
});
