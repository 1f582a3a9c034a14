import { configMap } from '../../api/kinds/core/config-map';
import type { Steps } from '../../api/parts';
import { loadBuiltinSchema } from '../../api/schema/builtin-schema';
import { localEntry } from '../../registry/local-entry';
import type { WatchItem } from '../../registry/types';
import type { ServedResource } from '../../resources/served-resource';
import type { Revision } from '../../storage/store';
import { prepareEvents } from './prepare-events';
import { watchEncoder, type WatchEncoder, type WatchFormat } from './watch-encoder';

const schema = loadBuiltinSchema();
const KEYS = 10_000;

/** Of its own for each test: what is encoded is remembered with it. */
const served = () =>
  ({
    definition: configMap,
    version: configMap.versions[0]!,
    type: schema.kind('', 'v1', 'ConfigMap')!,
    listKind: 'ConfigMapList',
    custom: false,
  }) as unknown as ServedResource;

const large = (revision: number) =>
  localEntry('/registry/configmaps/n/large', revision as Revision, {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: {
      name: 'large',
      namespace: 'n',
      resourceVersion: String(revision),
      finalizers: Array.from({ length: KEYS }, (_, index) => `a.b/f-${index}`),
    },
    data: Object.fromEntries(Array.from({ length: KEYS }, (_, index) => [`key-${index}`, 'v'])),
  });

const item = (revision: number): WatchItem => ({ type: 'ADDED', entry: large(revision) });
const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' } as const;
const table = { kind: 'Table', apiVersion: 'meta.k8s.io/v1' } as const;
const FORMATS: readonly (readonly [string, WatchFormat])[] = [
  ['Protobuf', { format: 'protobuf', includeObject: 'Metadata' }],
  ['metadata alone', { format: 'json', transform: partial, includeObject: 'Metadata' }],
  ['metadata alone in Protobuf', { format: 'protobuf', transform: partial, includeObject: 'Metadata' }],
  ['tables', { format: 'json', transform: table, includeObject: 'Object' }],
];

describe.each(FORMATS)('events of large objects as %s', (_, format) => {
  const encoder = (): WatchEncoder => watchEncoder(served(), format, schema, () => 0);

  it('are the same whether they were prepared or not', async () => {
    const prepared = encoder();
    const plain = encoder();
    for (const revision of [1, 2]) {
      const one = item(revision);
      if (one.type === 'BOOKMARK') throw new Error('no object');
      await prepareEvents([one], prepared);
      const bytes = Buffer.concat(prepared.event('ADDED', one.entry));
      expect(bytes.equals(Buffer.concat(plain.event('ADDED', large(revision))))).toBe(true);
    }
  });

  // The message of metadata alone is encoded at once.
  const isInSteps = format.transform !== partial || format.format === 'json';
  (isInSteps ? it : it.skip)('are made in many steps', () => {
    const steps = encoder().prepare!('ADDED', large(1))!;
    let pauses = 0;
    while (steps.next().done !== true) pauses += 1;
    expect(pauses).toBeGreaterThan(KEYS / 64);
  });
});

it('streams that share an encoder wait for the same, and for nothing when it is there', async () => {
  let made = 0;
  let isThere = false;
  function* make(): Steps<void> {
    made += 1;
    yield;
    isThere = true;
  }
  const none = (): readonly Uint8Array[] => [];
  const encoder: WatchEncoder = {
    contentType: '',
    shared: true,
    prepare: () => (isThere ? undefined : make()),
    event: none,
    bookmark: none,
    error: none,
  };
  const one = item(1);
  await Promise.all([prepareEvents([one], encoder), prepareEvents([one], encoder)]);
  expect(made).toBe(1);
  expect(prepareEvents([one], encoder)).toBeUndefined();
});

it('small objects and bookmarks are not waited for', () => {
  const encoder = watchEncoder(served(), FORMATS[0]![1], schema, () => 0);
  const small = localEntry('/registry/configmaps/n/small', 1 as Revision, { metadata: { name: 'small' } });
  const bookmark: WatchItem = { type: 'BOOKMARK', revision: 1 as Revision, initialEventsEnd: false };
  expect(prepareEvents([{ type: 'ADDED', entry: small }, bookmark], encoder)).toBeUndefined();
});

it('rows of tables are made a part at a time where they are many together', () => {
  const prepared: number[] = [];
  const encoder: WatchEncoder = {
    contentType: '',
    shared: false,
    weight: 50,
    prepare: (_, { revision }) => void prepared.push(revision),
    event: () => [],
    bookmark: () => [],
    error: () => [],
  };
  const object = { metadata: { name: 'a'.repeat(300) } };
  const items = [1, 2, 3, 4, 5, 6].map((revision): WatchItem => {
    return { type: 'ADDED', entry: localEntry('/registry/configmaps/n/a', revision as Revision, object) };
  });
  expect(prepareEvents(items, encoder)).toBeUndefined();
  expect(prepared).toEqual([5, 6]);
});

describe('others have their turn', () => {
  const MS_PER_LOOK = 2;
  let order: string[] = [];
  const slow = (name: string): WatchEncoder => ({
    contentType: '',
    shared: false,
    *prepare(): Steps<void> {
      for (let step = 0; step < 2; step += 1) {
        order.push(name);
        yield;
      }
    },
    event: () => [],
    bookmark: () => [],
    error: () => [],
  });
  const others = async (prepared: Promise<unknown>): Promise<string> => {
    let isOver = false;
    void prepared.then(() => (isOver = true));
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      order.push('|');
    }
    return order.join('');
  };
  beforeEach(() => {
    order = [];
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => (now += MS_PER_LOOK));
  });
  afterEach(() => jest.restoreAllMocks());

  it('between the objects of one stream, which take less than a turn each', async () => {
    const done = await others(prepareEvents([item(1), item(2), item(3), item(4)], slow('a'))!);
    expect(done.replaceAll('|', '')).toBe('aaaaaaaa');
    expect(done).not.toContain('aaaaa');
  });

  it('between streams that all have one to prepare', async () => {
    const streams = ['a', 'b', 'c', 'd'].map((name) => prepareEvents([item(1)], slow(name))!);
    expect(order).toEqual([]);
    const done = await others(Promise.all(streams));
    expect(done.replaceAll('|', '')).toHaveLength(8);
    expect(done).not.toMatch(/[a-d]{5}/);
  });
});

it('what fails while it is prepared is left to whoever asks for the event', async () => {
  const encoder = watchEncoder(served(), FORMATS[0]![1], schema, () => 0);
  const failing: WatchEncoder = {
    contentType: '',
    shared: true,
    // eslint-disable-next-line require-yield
    *prepare(): Steps<void> {
      throw new Error('no such field');
    },
    event: (type, entry) => encoder.event(type, entry),
    bookmark: () => [],
    error: () => [],
  };
  await expect(prepareEvents([item(1)], failing)).resolves.toBeUndefined();
});
