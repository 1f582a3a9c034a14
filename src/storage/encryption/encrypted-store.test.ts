import { openTemporaryStore, type TemporaryStore } from '../../../test/support/cache-fixture';
import { GrpcCode, GrpcError } from '../etcd/grpc-error';
import { CompactedError, type ListOutcome, type Revision } from '../store';
import { EncryptedStore } from './encrypted-store';
import type { Transformer } from './transformer';

const ROOT = '/registry/';
const KEY = `${ROOT}secrets/default/s`;
const PREFIX = Buffer.from('k8s:enc:kms:v1:vault:');

let temporary: TemporaryStore;
let store: EncryptedStore;
let isAway: boolean;
let opened: number;

/** A service that may be away; its cipher turns bytes around. */
const transformer: Transformer = {
  prefix: PREFIX,
  seal: (value) => Buffer.concat([PREFIX, Buffer.from(value).reverse()]),
  open: async (sealed) => {
    opened++;
    if (isAway) throw new GrpcError(GrpcCode.unavailable, 'nobody is there');
    return { value: Buffer.from(sealed.subarray(PREFIX.length)).reverse(), isStale: false };
  },
};

beforeEach(async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
  [isAway, opened] = [false, 0];
  temporary = await openTemporaryStore();
  store = new EncryptedStore(temporary.store, {
    keyRoot: ROOT,
    transformerOf: () => transformer,
    resourceOf: () => 'secrets',
    metrics: () => undefined,
  });
  await store.create(KEY, Buffer.from('value'));
});
afterEach(async () => {
  jest.useRealTimers();
  await store.close();
  await temporary[Symbol.asyncDispose]();
});

async function read(): Promise<{ readonly text: string | undefined; readonly revision: Revision }> {
  const outcome = (await store.list({ prefix: ROOT })) as Extract<ListOutcome, { ok: true }>;
  const [item] = outcome.items;
  return { text: item?.problem ?? item?.value.toString(), revision: outcome.revision };
}

/** Resolves with how the watch ended. */
async function watchedFrom(revision: Revision): Promise<unknown> {
  try {
    for await (const batch of store.watch(ROOT, revision, new AbortController().signal)) void batch;
    return undefined;
  } catch (error) {
    return error;
  }
}

describe('a service that is away while everything is read', () => {
  it('is tried with what it could not open, and nobody has to read anew before it is there', async () => {
    isAway = true;
    const { text, revision } = await read();
    expect(text).toBe('nobody is there');
    const ended = watchedFrom(revision);
    let hasEnded = false;
    void ended.then(() => (hasEnded = true));
    await jest.advanceTimersByTimeAsync(60_000);
    expect(hasEnded).toBe(false);
    expect(opened).toBeGreaterThan(3);
    isAway = false;
    await jest.advanceTimersByTimeAsync(60_000);
    expect(await ended).toBeInstanceOf(CompactedError);
    expect(await read()).toEqual({ text: 'value', revision });
    // And that is the end of it.
    const before = opened;
    await jest.advanceTimersByTimeAsync(600_000);
    expect(opened).toBe(before);
  });

  it('has everything read anew as well when it comes before anybody watches', async () => {
    isAway = true;
    const { revision } = await read();
    isAway = false;
    await jest.advanceTimersByTimeAsync(60_000);
    expect(await watchedFrom(revision)).toBeInstanceOf(CompactedError);
  });
});
