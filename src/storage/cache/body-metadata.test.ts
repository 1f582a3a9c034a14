import fc from 'fast-check';
import { parseExact } from '../../api/codec/exact-json';
import type { KubeObject } from '../../api/object';
import { metadataOf, metadataText } from './body-metadata';
import type { CacheEntry } from './cache';

function entryOf(text: string): CacheEntry {
  return { body: Buffer.from(text.slice(1)), object: parseExact(text) as KubeObject } as CacheEntry;
}

describe('the metadata of an entry', () => {
  it('is what parsing the whole object finds', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (found, rest) => {
          const entry = entryOf(JSON.stringify({ metadata: found, ...rest }));
          expect(parseExact(metadataText(entry).toString())).toEqual(entry.object.metadata);
          expect(metadataOf(entry)).toEqual(entry.object.metadata);
        },
      ),
    );
  });

  it('is found where a field named by an integer comes first', () => {
    const entry = entryOf('{"0":{"metadata":{"name":"inner"}},"metadata":{"name":"outer"}}');
    expect(metadataOf(entry)).toEqual({ name: 'outer' });
  });

  it('is no copy of the bytes', () => {
    const entry = entryOf('{"metadata":{"name":"cart"},"spec":{}}');
    expect(metadataText(entry).buffer).toBe(entry.body.buffer);
  });
});
