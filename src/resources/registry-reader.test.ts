import type { Steps } from '../api/parts';
import type { KubeObject } from '../api/object';
import type { CacheEntry, RegistryCache, ResourceCache } from '../storage/cache/cache';
import type { Store } from '../storage/store';
import { RegistryReader } from './registry-reader';

const KEY_ROOT = '/registry/';

/** A value of a store: a large one is parsed in parts, and must not be asked for before that. */
class Value {
  readonly name: string;
  parts = 0;
  isParsed: boolean;

  constructor(
    readonly key: string,
    readonly isLarge: boolean,
  ) {
    this.name = key.slice(key.lastIndexOf('/') + 1);
    this.isParsed = !isLarge;
  }

  get object(): KubeObject {
    if (!this.isParsed) throw new Error(`${this.name} is parsed at a stretch`);
    return { metadata: { name: this.name } };
  }

  prepare(): Steps<void> | undefined {
    return this.isParsed ? undefined : this.#parse();
  }

  *#parse(): Steps<void> {
    for (; this.parts < 3; this.parts++) yield;
    this.isParsed = true;
  }
}

function readerOf(inMemory: readonly Value[], stored: readonly Value[] = [], problem?: Error): RegistryReader {
  const resource = {
    problemIn: () => problem,
    snapshot: () => ({ entries: (prefix: string) => inMemory.filter(({ key }) => key.startsWith(prefix)) }),
    get: (key: string) => inMemory.find((value) => value.key === key),
  };
  const cache = { toEntry: (_: string, value: unknown) => value as CacheEntry };
  const store = { get: (key: string) => Promise.resolve(stored.find((value) => value.key === key)) };
  return new RegistryReader(
    cache as unknown as RegistryCache,
    store as unknown as Store,
    KEY_ROOT,
    () => resource as unknown as ResourceCache,
  );
}

const small = (path: string): Value => new Value(KEY_ROOT + path, false);
const large = (path: string): Value => new Value(KEY_ROOT + path, true);
const namesOf = (objects: readonly KubeObject[]): unknown[] => objects.map(({ metadata }) => metadata.name);

describe('objects of a namespace that a decision needs', () => {
  const values = [small('limitranges/a/1'), small('limitranges/a/2'), small('limitranges/b/3')];

  it('are there at once when they are small', () => {
    expect(namesOf(readerOf(values).listInTurns('limitranges', 'a') as readonly KubeObject[])).toEqual(['1', '2']);
  });

  it('are parsed in parts when they are large', async () => {
    const [first, second] = [large('limitranges/a/0'), large('limitranges/a/9')];
    const list = await readerOf([first, ...values, second]).listInTurns('limitranges', 'a');
    expect(namesOf(list)).toEqual(['0', '1', '2', '9']);
    expect([first.parts, second.parts]).toEqual([3, 3]);
  });

  it('are counted without being parsed', () => {
    const reader = readerOf([large('limitranges/a/0')]);
    expect([reader.hasAny('limitranges', 'a'), reader.hasAny('limitranges', 'b')]).toEqual([true, false]);
  });

  it('are not there when one of them cannot be read: it may be what forbids the request', () => {
    const reader = readerOf(values, [], new Error('a value cannot be decrypted'));
    expect(() => reader.listInTurns('limitranges', 'a')).toThrow('decrypted');
    expect(() => reader.hasAny('limitranges', 'a')).toThrow('decrypted');
    expect(() => [...reader.list('limitranges', 'a')]).toThrow('decrypted');
  });
});

describe('an object that a decision needs', () => {
  it('is there at once when memory has it and it is small', () => {
    expect(readerOf([small('secrets/a/s')]).getLive('secrets', 'a', 's')).toEqual({ metadata: { name: 's' } });
  });

  it.each<[string, (value: Value) => RegistryReader]>([
    ['from memory', (value) => readerOf([value])],
    ['from the store', (value) => readerOf([], [value])],
  ])('is parsed in parts %s when it is large', async (_, read) => {
    const value = large('secrets/a/s');
    expect(await read(value).getLive('secrets', 'a', 's')).toEqual({ metadata: { name: 's' } });
    expect(value.parts).toBe(3);
  });

  it('need not exist', async () => {
    expect(await readerOf([]).getLive('secrets', 'a', 's')).toBeUndefined();
  });
});
