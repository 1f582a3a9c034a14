import { withConversions } from '../api/conversion-needed';
import type { KubeObject } from '../api/object';
import type { Steps } from '../api/parts';
import { localEntry } from '../registry/local-entry';
import type { CacheEntry } from '../storage/cache/cache';
import type { Revision } from '../storage/store';
import { ConversionMemory } from './converted-entries';
import { WebhookConversion } from './webhook-conversion';

const V1 = 'example.io/v1';
const V2 = 'example.io/v2';

function entryOf(name: string, apiVersion = V1): CacheEntry {
  const object = {
    kind: 'Gate',
    apiVersion,
    metadata: { name, resourceVersion: '7' },
    spec: { padding: 'x'.repeat(100) },
  };
  return localEntry(`/registry/example.io/gates/${name}`, 7 as Revision, object);
}

function conversionOf(memory = new ConversionMemory()) {
  const calls: (readonly string[])[] = [];
  let label = 'first';
  const conversion = new WebhookConversion({
    webhook: {
      convert: (objects, apiVersion) => {
        calls.push(objects.map(({ metadata }) => metadata.name ?? ''));
        if (label === '') return Promise.reject(new Error('down'));
        return Promise.resolve(
          objects.map((object) => ({ ...object, apiVersion, metadata: { ...object.metadata, labels: { label } } })),
        );
      },
    },
    memory,
    storageApiVersion: V1,
    prune: () => (object) => object,
  });
  const respondWith = (next: string): void => void (label = next);
  return { conversion, v2: conversion.ofVersion(V2), calls, respondWith: respondWith };
}

const labelOf = ([entry]: readonly CacheEntry[]) => entry?.object.metadata.labels?.['label'];

describe('conversions of entries', () => {
  it('entries of the wanted version are given at once', () => {
    const { v2, calls } = conversionOf();
    const entries = [entryOf('a', V2)];
    expect(v2.read(entries, 'trusted')).toBe(entries);
    expect(calls).toEqual([]);
  });

  it('what is under way is awaited, and only the rest is asked for', async () => {
    const { v2, calls } = conversionOf();
    const [a, b] = [entryOf('a'), entryOf('b')];
    await Promise.all([v2.read([a], 'remembered'), v2.read([a, b], 'remembered')]);
    expect(calls).toEqual([['a'], ['b']]);
  });

  it('keep their order, key, revision and resourceVersion', async () => {
    const { v2 } = conversionOf();
    const read = await v2.read([entryOf('a'), entryOf('b', V2), entryOf('c')], 'trusted');
    expect(read.map(({ name, revision, apiVersion }) => ({ name, revision, apiVersion }))).toEqual(
      ['a', 'b', 'c'].map((name) => ({ name, revision: 7, apiVersion: V2 })),
    );
    expect(read[0]!.object.metadata.resourceVersion).toBe('7');
  });

  it('are asked for again once the webhook has answered otherwise, or not at all', async () => {
    const { v2, respondWith } = conversionOf();
    const a = entryOf('a');
    const other = entryOf('b');
    expect(labelOf(await v2.read([a], 'trusted'))).toBe('first');
    respondWith('');
    await expect(v2.read([other], 'asked')).rejects.toThrow('down');
    respondWith('second');
    expect(labelOf(await v2.read([a], 'remembered'))).toBe('first');
    expect(labelOf(await v2.read([a], 'trusted'))).toBe('second');
  });

  it('take so many bytes at most, and none when they are forgotten', async () => {
    const memory = new ConversionMemory(20_000);
    const { conversion, v2, calls } = conversionOf(memory);
    const entries = Array.from({ length: 100 }, (_, index) => entryOf(`e${index}`));
    await v2.read(entries, 'trusted');
    expect(memory.bytes).toBeGreaterThan(10_000);
    expect(memory.bytes).toBeLessThanOrEqual(20_000);
    await v2.read(entries.slice(-1), 'trusted');
    expect(calls.length).toBe(1);
    conversion.forget();
    expect(memory.bytes).toBe(0);
  });

  it('a pure function runs until it has all that it needs', async () => {
    const { conversion, calls } = conversionOf();
    const object: KubeObject = entryOf('a').object;
    const apiVersions = (): readonly (string | undefined)[] =>
      [V2, 'example.io/v3', V1].map((version) => conversion.known(object, version).apiVersion);
    expect(await withConversions(apiVersions)).toEqual([V2, 'example.io/v3', V1]);
    expect(calls.length).toBe(2);
    expect(() => conversion.known(object, V2)).toThrow('a conversion between versions is needed');
  });

  it('an object that shares its parts with one that is known is recognized without a look into them', async () => {
    const { conversion, calls } = conversionOf();
    const whole = entryOf('a').object;
    let looks = 0;
    const spec = new Proxy({ padding: 'x' }, { ownKeys: (target) => ((looks += 1), Reflect.ownKeys(target)) });
    const converted = await withConversions(() => conversion.known({ ...whole, spec }, V2));
    expect(converted.apiVersion).toBe(V2);
    // Whether what came back is large.
    expect(looks).toBe(1);
    expect(calls.length).toBe(1);
  });

  it('one that is made anew is recognized in steps', async () => {
    const { conversion, calls } = conversionOf();
    const made = (): KubeObject => ({ ...entryOf('a').object, spec: manyTexts() });
    let steps = 0;
    const converted = await withConversions(() => {
      const { result, count } = counted(conversion.knownInSteps(made(), V2));
      steps = count;
      return result;
    });
    expect(converted.apiVersion).toBe(V2);
    expect(calls.length).toBe(1);
    expect(steps).toBeGreaterThan(MANY / 64);
  });
});

const MANY = 10_000;

function manyTexts(): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: MANY }, (_, index) => [`key${index}`, 'text']));
}

function counted<Result>(steps: Steps<Result>): { readonly result: Result; readonly count: number } {
  for (let count = 0; ; count += 1) {
    const step = steps.next();
    if (step.done === true) return { result: step.value, count };
  }
}

it('what a webhook gave of a large object is brought up to its schema in steps', async () => {
  let pauses = 0;
  const prune = Object.assign((): never => raise(), {
    *inSteps(object: KubeObject): Steps<KubeObject> {
      for (; pauses < 10; pauses += 1) yield;
      return { ...object, pruned: true };
    },
  });
  const conversion = new WebhookConversion({
    webhook: { convert: (objects, apiVersion) => Promise.resolve(objects.map((one) => ({ ...one, apiVersion }))) },
    memory: new ConversionMemory(),
    storageApiVersion: V1,
    prune: () => prune,
  });
  const converted = await conversion.convert({ ...entryOf('a').object, spec: manyTexts() }, V2);
  expect({ pauses, pruned: converted['pruned'] }).toEqual({ pauses: 10, pruned: true });
});

function raise(): never {
  throw new Error('at one stretch');
}
