import type { KubeObject } from '../../api/object';
import type { Revision } from '../store';
import { take } from '../../api/steps/both-forms.fixture';
import { EntryFactory, ParsedObjects } from './entry';
import { inCurrentForm } from './stored-form';

const KEY = '/registry/pods/shop/cart';

function factory(options: { learn?: boolean; decode?: (value: Buffer) => KubeObject; parsed?: ParsedObjects } = {}) {
  const decode = jest.fn(options.decode ?? ((value: Buffer) => JSON.parse(value.toString()) as KubeObject));
  const decoder = { decode, ...(options.learn !== true && { storedAs: { kind: 'Pod', apiVersion: 'v1' } }) };
  return {
    decode,
    entries: new EntryFactory(
      '/registry/pods/',
      decoder,
      options.parsed ?? new ParsedObjects({ objects: 8, jsonBytes: 10_000 }, true),
    ),
  };
}

function stored(value: object | string, revision = 7) {
  const bytes = typeof value === 'string' ? Buffer.from(value) : inCurrentForm(JSON.stringify(value));
  return { key: KEY, value: bytes, revision: revision as Revision };
}

describe('EntryFactory', () => {
  it.each<[string, string, string, boolean]>([
    [
      'a value of the current form in the storage version',
      '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"cart"},"spec":{"ü":1}}\t',
      '"metadata":{"resourceVersion":"7","name":"cart"},"spec":{"ü":1}}',
      false,
    ],
    [
      'empty metadata',
      '{"kind":"Pod","apiVersion":"v1","metadata":{}}\t',
      '"metadata":{"resourceVersion":"7"}}',
      false,
    ],
    [
      'a value of an older form',
      '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"cart"}}',
      '"metadata":{"resourceVersion":"7","name":"cart"}}',
      true,
    ],
    [
      'a value that kube-apiserver wrote as JSON',
      '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"cart"}}\n',
      '"metadata":{"resourceVersion":"7","name":"cart"}}',
      true,
    ],
    [
      'keys in another order',
      '{"apiVersion":"v1","kind":"Pod","spec":{},"metadata":{"name":"cart"}}\t',
      '"metadata":{"resourceVersion":"7","name":"cart"},"spec":{}}',
      true,
    ],
    [
      'a value that ends early',
      '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"cart"}} \t',
      '"metadata":{"resourceVersion":"7","name":"cart"}}',
      true,
    ],
  ])('makes the body of %s', (_, value, body, decoded) => {
    const { decode, entries } = factory();
    const entry = entries.fromStored(stored(value));
    expect(entry.body.toString()).toBe(body);
    expect(decode).toHaveBeenCalledTimes(decoded ? 1 : 0);
    expect(entry.object).toMatchObject({ kind: 'Pod', apiVersion: 'v1', metadata: { resourceVersion: '7' } });
  });

  it('decodes one value to learn the storage version when nobody says it', () => {
    const { decode, entries } = factory({ learn: true });
    const value = stored({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'cart' }, spec: {} });
    const first = entries.fromStored(value);
    const second = entries.fromStored(value);
    expect(decode).toHaveBeenCalledTimes(1);
    expect(second.body.equals(first.body)).toBe(true);
  });

  it('converts values of other versions', () => {
    const { entries } = factory({
      decode: () => ({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'cart', resourceVersion: '3' }, spec: {} }),
    });
    const entry = entries.fromStored(stored('k8s\0...'));
    expect(entry.body.toString()).toBe('"metadata":{"resourceVersion":"7","name":"cart"},"spec":{}}');
  });

  it('parses a large value once when it has to be decoded', () => {
    const data = { long: 'x'.repeat(100_000) };
    const decoded = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'cart', resourceVersion: '3' }, data };
    const { entries } = factory({ decode: () => decoded });
    const parse = jest.spyOn(JSON, 'parse');
    const large = entries.fromStored(stored(`k8s\0${'.'.repeat(100_000)}`)).object;
    expect(parse).not.toHaveBeenCalled();
    const small = entries.fromStored(stored('k8s\0')).object;
    expect(parse).toHaveBeenCalledTimes(1);
    parse.mockRestore();
    expect(JSON.stringify(large)).toBe(JSON.stringify(small));
  });

  describe('of a large value', () => {
    const data = Object.fromEntries(Array.from({ length: 4_000 }, (_, index) => [`key-${index}`, 'x'.repeat(50)]));
    const large = stored({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'cart' }, data });
    /** Fills in what is not there. */
    const complete = jest.fn((object: KubeObject): KubeObject => (object['more'] ? object : { ...object, more: 'a' }));
    const completing = () =>
      new EntryFactory(
        '/registry/pods/',
        {
          decode: (value) => JSON.parse(value.toString()) as KubeObject,
          storedAs: { kind: 'Pod', apiVersion: 'v1' },
          complete,
        },
        new ParsedObjects({ objects: 8, jsonBytes: 10_000 }, true),
      );
    beforeEach(() => complete.mockClear());

    it.each([
      ['parsed', () => factory().entries, 1],
      ['completed', completing, 2],
    ])('is %s a part at a time', (_, entries, walks) => {
      const [whole, inParts] = [entries().fromStored(large), entries().fromStored(large)];
      const steps = inParts.prepare();
      if (steps === undefined) throw new Error('nothing to prepare');
      expect(take(steps).pauses).toBeGreaterThan((walks * inParts.size) / 100_000);
      const parse = jest.spyOn(JSON, 'parse');
      expect(inParts.prepare()).toBeUndefined();
      const { object, body } = inParts;
      expect(parse).not.toHaveBeenCalled();
      parse.mockRestore();
      expect(body.equals(whole.body)).toBe(true);
      expect(JSON.stringify(object)).toBe(JSON.stringify(whole.object));
    });

    it('is not worth it for a small one', () => {
      const { entries } = factory();
      expect(entries.fromStored(stored({ metadata: {} })).prepare()).toBeUndefined();
    });

    it('is not completed again when what was written is known to be complete', () => {
      const entries = completing();
      const object = { kind: 'Pod', apiVersion: 'v1', metadata: { resourceVersion: '7', name: 'cart' }, more: 'b' };
      const entry = entries.fromStored(stored({ ...object, metadata: { name: 'cart' } }));
      entries.learn(entry, object);
      const parse = jest.spyOn(JSON, 'parse');
      expect([entry.object, entry.body.length, entries.deleted(entry, 8 as Revision).body.length]).toEqual([
        object,
        entry.size,
        entry.size,
      ]);
      expect(parse).not.toHaveBeenCalled();
      parse.mockRestore();
      expect(complete).toHaveBeenCalledTimes(1);
    });

    it('is completed when what was written was not complete', () => {
      const entries = completing();
      const object = { kind: 'Pod', apiVersion: 'v1', metadata: { resourceVersion: '7', name: 'cart' } };
      const entry = entries.fromStored(stored({ ...object, metadata: { name: 'cart' } }));
      entries.learn(entry, object);
      expect(entry.object).toEqual({ ...object, more: 'a' });
      expect(entry.body.toString()).toContain('"more":"a"');
    });
  });

  it('throws what the decoder throws', () => {
    const { entries } = factory();
    expect(() => entries.fromStored(stored('{"kind":"Pod","apiVersion":"v1","metadata":{"name":'))).toThrow(
      SyntaxError,
    );
  });

  it('reads namespace and name from the key', () => {
    const { entries } = factory();
    const value = { kind: 'Pod', apiVersion: 'v1', metadata: {} };
    expect(entries.fromStored(stored(value))).toMatchObject({ namespace: 'shop', name: 'cart' });
    const clusterScoped = entries.fromStored({ ...stored(value), key: '/registry/pods/cart' });
    expect(clusterScoped).toMatchObject({ namespace: '', name: 'cart' });
  });

  it('gives a deleted entry the revision of its deletion', () => {
    const { entries } = factory();
    const before = entries.fromStored(stored({ kind: 'Pod', apiVersion: 'v1', metadata: { labels: { a: 'b' } } }, 99));
    const deleted = entries.deleted(before, 1234 as Revision);
    expect(deleted).toMatchObject({ key: KEY, revision: 1234, labels: { a: 'b' } });
    expect(deleted.body.toString()).toBe('"metadata":{"resourceVersion":"1234","labels":{"a":"b"}}}');
    expect(before.body.toString()).toContain('"resourceVersion":"99"');
  });

  it.each([{}, { name: 'cart' }])('gives back the stored bytes of an entry with metadata %j', (metadata) => {
    const { entries } = factory();
    const value = stored({ kind: 'Pod', apiVersion: 'v1', metadata, spec: {} });
    expect(entries.toStored(entries.fromStored(value))).toEqual(value);
  });

  it('completes a value once, when it is first read, and gives back the stored bytes as they were', () => {
    const complete = jest.fn((object: KubeObject) => ({ ...object, spec: { filled: 'in' } }));
    const decoder = {
      decode: (value: Buffer) => JSON.parse(value.toString()) as KubeObject,
      storedAs: { kind: 'Pod', apiVersion: 'v1' },
      complete,
    };
    const entries = new EntryFactory(
      '/registry/pods/',
      decoder,
      new ParsedObjects({ objects: 8, jsonBytes: 10_000 }, true),
    );
    const value = stored({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'cart', labels: { a: 'b' } } });
    const entry = entries.fromStored(value);
    expect(entry.labels).toEqual({ a: 'b' });
    expect(complete).not.toHaveBeenCalled();
    expect(entry.object).toMatchObject({ spec: { filled: 'in' }, metadata: { resourceVersion: '7' } });
    expect(entry.body.toString()).toContain('"spec":{"filled":"in"}');
    expect(complete).toHaveBeenCalledTimes(1);
    expect(entries.toStored(entry)).toEqual(value);
    expect(entries.deleted(entry, 9 as Revision).object).toMatchObject({
      spec: { filled: 'in' },
      metadata: { resourceVersion: '9' },
    });
  });

  it('is asked for the value of a field once, also after it was deleted', () => {
    const { entries } = factory({ parsed: new ParsedObjects({ objects: 1, jsonBytes: 10_000 }, false) });
    const entry = entries.fromStored(
      stored({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'cart' }, spec: { nodeName: 'n1', host: '' } }),
    );
    const nodeName = jest.fn((object: KubeObject) => (object['spec'] as { nodeName: string }).nodeName);
    const host = jest.fn(() => '');
    expect([entry.field('spec.nodeName', nodeName), entry.field('spec.host', host)]).toEqual(['n1', '']);
    const deleted = entries.deleted(entry, 8 as Revision);
    for (const one of [entry, deleted]) {
      expect([one.field('spec.nodeName', nodeName), one.field('spec.host', host)]).toEqual(['n1', '']);
    }
    expect(nodeName).toHaveBeenCalledTimes(1);
    expect(host).toHaveBeenCalledTimes(1);
  });

  it('keeps no more parsed objects than it may', () => {
    const { entries } = factory({ parsed: new ParsedObjects({ objects: 2, jsonBytes: 10_000 }, false) });
    const [a, b, c] = [1, 2, 3].map((n) =>
      entries.fromStored(stored({ kind: 'Pod', apiVersion: 'v1', metadata: {} }, n)),
    ) as [
      ReturnType<EntryFactory['fromStored']>,
      ReturnType<EntryFactory['fromStored']>,
      ReturnType<EntryFactory['fromStored']>,
    ];
    const objects = [a.object, b.object, c.object];
    expect(c.object).toBe(objects[2]);
    expect(b.object).toBe(objects[1]);
    expect(a.object).not.toBe(objects[0]);
    expect(a.object).toEqual(objects[0]);
  });

  it('keeps no parsed objects of more JSON than it may, but for the last', () => {
    const value = inCurrentForm(JSON.stringify({ kind: 'Pod', apiVersion: 'v1', metadata: {}, data: 'x'.repeat(500) }));
    const { entries } = factory({ parsed: new ParsedObjects({ objects: 100, jsonBytes: 1_200 }, false) });
    const [a, b, c] = [1, 2, 3].map((n) => entries.fromStored({ key: KEY, value, revision: n as Revision }));
    const objects = [a!.object, b!.object, c!.object];
    expect(c!.object).toBe(objects[2]);
    expect(b!.object).toBe(objects[1]);
    expect(a!.object).not.toBe(objects[0]);
    const large = inCurrentForm(
      JSON.stringify({ kind: 'Pod', apiVersion: 'v1', metadata: {}, data: 'x'.repeat(5_000) }),
    );
    const last = entries.fromStored({ key: KEY, value: large, revision: 4 as Revision });
    expect(last.object).toBe(last.object);
    expect(c!.object).not.toBe(objects[2]);
  });

  it('keeps no object that was parsed as one of many, and gives the one that is kept', () => {
    const { entries } = factory({ parsed: new ParsedObjects({ objects: 1, jsonBytes: 10_000 }, false) });
    const [a, b] = [1, 2].map((n) => entries.fromStored(stored({ kind: 'Pod', apiVersion: 'v1', metadata: {} }, n)));
    const kept = a!.object;
    expect(b!.parse()).toEqual(b!.parse());
    expect(b!.parse()).not.toBe(b!.parse());
    expect(a!.object).toBe(kept);
    expect(a!.parse()).toBe(kept);
  });

  it('keeps nothing parsed of what is forgotten, and makes room with it', () => {
    const parsed = new ParsedObjects({ objects: 3, jsonBytes: 10_000 }, false);
    const { entries } = factory({ parsed });
    const made = [1, 2, 3, 4].map((n) =>
      entries.fromStored(stored({ kind: 'Pod', apiVersion: 'v1', metadata: {}, a: n }, n)),
    );
    const objects = made.slice(0, 3).map(({ object }) => object);
    const { bytes } = parsed.size;
    made[1]!.forget();
    made[1]!.forget();
    expect(parsed.size).toEqual({ objects: 2, bytes: (bytes / 3) * 2 });
    expect(made[1]!.object).toEqual(objects[1]);
    expect(made[1]!.object).not.toBe(objects[1]);
    expect(parsed.size).toEqual({ objects: 2, bytes: (bytes / 3) * 2 });
    for (const one of made) expect(one.object).toMatchObject({ a: one.revision });
    expect(parsed.size.objects).toBeLessThanOrEqual(3);
    for (const one of made) one.forget();
    expect(parsed.size).toEqual({ objects: 0, bytes: 0 });
  });

  it('freezes parsed objects where asked to', () => {
    const { entries } = factory();
    const { object } = entries.fromStored(stored({ kind: 'Pod', apiVersion: 'v1', metadata: {}, spec: { a: [{}] } }));
    expect(Object.isFrozen((object['spec'] as { a: unknown[] }).a[0])).toBe(true);
  });
});
