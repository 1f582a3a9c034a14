import fc from 'fast-check';
import { admissionOutcome, admissionRequest } from '../../test/fixtures/admission-request';
import { quotaEvaluator } from '../api/quota/evaluator';
import type { KubeObject } from '../api/object';
import type { QuotaStore } from '../resources/quota-store';
import { QuotaLedger } from './quota-ledger';

/** Quotas under compare-and-put, shared by several replicas whose memory is behind by `lag` writes. */
class SharedQuotas {
  readonly #history: KubeObject[][] = [];
  #revision = 1;
  writes = 0;

  constructor(hard: Record<string, Record<string, string>>) {
    this.#history.push(
      Object.entries(hard).map(([name, limits]) => ({
        metadata: { name, namespace: 'ns', resourceVersion: '1' },
        status: { hard: limits, used: Object.fromEntries(Object.keys(limits).map((key) => [key, '0'])) },
      })),
    );
  }

  get quotas(): readonly KubeObject[] {
    return this.#history.at(-1) ?? [];
  }

  used(name: string): unknown {
    const quota = this.quotas.find(({ metadata }) => metadata.name === name);
    return (quota?.status as { readonly used: unknown }).used;
  }

  seenBy(lag: number): QuotaStore {
    const seen = (): readonly KubeObject[] => this.#history.at(-1 - lag) ?? this.#history[0] ?? [];
    return {
      hasAny: () => seen().length > 0,
      list: seen,
      knows: (revision) => seen().some(({ metadata }) => Number(metadata.resourceVersion) >= revision),
      putUsed: async (quota, used) => {
        await new Promise((resolve) => setImmediate(resolve));
        const current = this.quotas.find(({ metadata }) => metadata.name === quota.metadata.name);
        if (current?.metadata.resourceVersion !== quota.metadata.resourceVersion) return { ok: false, current };
        const resourceVersion = String(++this.#revision);
        this.writes++;
        const written: KubeObject = {
          ...quota,
          metadata: { ...quota.metadata, resourceVersion },
          status: { ...(quota.status as object), used },
        };
        this.#history.push(this.quotas.map((one) => (one === current ? written : one)));
        return { ok: true, quota: written };
      },
    };
  }
}

const secrets = quotaEvaluator({ group: '', resource: 'secrets' }, Date.now)!;
const request = (part: Parameters<typeof admissionRequest>[0] = {}) =>
  admissionRequest({ resource: 'secrets', object: { metadata: { name: 's' } }, ...part });
describe('the quota ledger', () => {
  it('admits no more than the quota allows, in few writes', async () => {
    const shared = new SharedQuotas({ q: { 'count/secrets': '50' } });
    const ledger = new QuotaLedger(shared.seenBy(0));
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, () => admissionOutcome(() => ledger.charge(request(), secrets))),
    );
    expect(outcomes.filter((text) => text === 'admitted')).toHaveLength(50);
    expect(outcomes.at(-1)).toBe(
      'secrets "s" is forbidden: exceeded quota: q, requested: count/secrets=1, used: count/secrets=50, limited: count/secrets=50',
    );
    expect(shared.used('q')).toEqual({ 'count/secrets': '50' });
    expect(shared.writes).toBeLessThan(5);
  });

  it('never admits more than allowed, whatever replicas, delays and refunds there are', async () => {
    const shape = fc.record({
      limits: fc.tuple(fc.nat(12), fc.nat(12)),
      lags: fc.array(fc.nat(3), { minLength: 1, maxLength: 3 }),
      // Which replica, and whether the object is stored in the end.
      requests: fc.array(fc.tuple(fc.nat(2), fc.boolean()), { maxLength: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(shape, async ({ limits, lags, requests }) => {
        const shared = new SharedQuotas({
          q: { 'count/secrets': String(limits[0]) },
          r: { secrets: String(limits[1]) },
        });
        const ledgers = lags.map((lag) => new QuotaLedger(shared.seenBy(lag)));
        let stored = 0;
        await Promise.all(
          requests.map(async ([index, succeeds]) => {
            const ledger = ledgers[index % ledgers.length]!;
            try {
              const charges = await ledger.charge(request(), secrets);
              if (!succeeds) return await ledger.refund('ns', charges);
              stored++;
              expect(stored).toBeLessThanOrEqual(Math.min(...limits));
            } catch (error) {
              expect(String(error)).toContain('exceeded quota');
            }
          }),
        );
        // Charges of requests that a second quota has refused go back a little later.
        for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
        expect(shared.used('q')).toEqual({ 'count/secrets': String(stored) });
        expect(shared.used('r')).toEqual({ secrets: String(stored) });
      }),
      { numRuns: 60 },
    );
  });

  it('checks a dry run and charges nothing for it', async () => {
    const shared = new SharedQuotas({ q: { 'count/secrets': '1' } });
    const ledger = new QuotaLedger(shared.seenBy(0));
    expect(await ledger.charge(request({ dryRun: true }), secrets)).toEqual([]);
    expect(shared.writes).toBe(0);
    await ledger.charge(request(), secrets);
    expect(await admissionOutcome(() => ledger.charge(request({ dryRun: true }), secrets))).toContain(
      'exceeded quota: q',
    );
  });

  it('asks for a quota where the configuration wants one', async () => {
    const limited = [{ apiGroup: '', resource: 'secrets', matchContains: ['secrets'], matchScopes: [] }];
    const none = new QuotaLedger(new SharedQuotas({}).seenBy(0), limited);
    expect(await admissionOutcome(() => none.charge(request(), secrets))).toContain(
      'insufficient quota to consume: count/secrets',
    );
    const both = new SharedQuotas({ q: { 'count/secrets': '1', secrets: '1' } });
    expect(await admissionOutcome(() => new QuotaLedger(both.seenBy(0), limited).charge(request(), secrets))).toBe(
      'admitted',
    );
  });

  it('hands a failure of the store to those who wait', async () => {
    const shared = new SharedQuotas({ q: { 'count/secrets': '5' } });
    const ledger = new QuotaLedger({
      ...shared.seenBy(0),
      putUsed: () => Promise.reject(new Error('the store is away')),
    });
    expect(await admissionOutcome(() => ledger.charge(request(), secrets))).toBe('the store is away');
  });
});
