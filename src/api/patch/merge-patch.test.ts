import fc from 'fast-check';
import type { JsonValue } from '../object';
import { mergeDiff } from './diff.fixture';
import { jsonEqual } from './json-equal';
import { applyMergePatch } from './merge-patch';

const json = fc.jsonValue().map((value) => value as JsonValue);

/** Documents in which null, which a merge patch cannot set, does not occur. Their keys meet often. */
const { documents } = fc.letrec<{ documents: JsonValue }>((tie) => ({
  documents: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<JsonValue>('x', 'y', 1, true),
    fc.array(tie('documents'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('documents')),
  ),
}));

describe('a merge patch', () => {
  // RFC 7396, appendix A.
  it.each([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ] as readonly (readonly [JsonValue, JsonValue, JsonValue])[])('of %j with %j is %j', (document, patch, merged) => {
    expect(applyMergePatch(document, patch)).toEqual(merged);
  });

  it('leaves no null in the lists that it sets, however deep', () => {
    const list = [null, 1, { a: null, b: [null, 2] }, [null]];
    const kept = [1, { b: [2] }, []];
    for (const before of [{}, { l: ['x'] }, { l: 'x' }, { l: null }]) {
      expect(applyMergePatch(before, { l: list })).toEqual({ l: kept });
    }
    expect(applyMergePatch({ o: { k: 1 } }, { o: { l: list } })).toEqual({ o: { k: 1, l: kept } });
    expect(list).toHaveLength(4);
  });

  it('that repeats itself changes nothing', () => {
    fc.assert(
      fc.property(json, json, (document, patch) => {
        const once = applyMergePatch(document, patch);
        expect(jsonEqual(applyMergePatch(once, patch), once)).toBe(true);
      }),
    );
  });

  it('of the difference of two documents leads from one to the other', () => {
    fc.assert(
      fc.property(documents, documents, (before, after) => {
        expect(applyMergePatch(before, mergeDiff(before, after))).toEqual(after);
      }),
    );
  });

  it('does not change its arguments', () => {
    fc.assert(
      fc.property(json, json, (document, patch) => {
        const before = JSON.stringify([document, patch]);
        applyMergePatch(document, patch);
        expect(JSON.stringify([document, patch])).toBe(before);
      }),
    );
  });

  it('takes __proto__ for a key like any other', () => {
    const patch = JSON.parse('{"__proto__":{"polluted":true}}') as JsonValue;
    expect(JSON.stringify(applyMergePatch({}, patch))).toBe('{"__proto__":{"polluted":true}}');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
