import fc from 'fast-check';
import { StatusError } from '../errors/status-error';
import type { JsonValue } from '../object';
import { jsonDiff } from './diff.fixture';
import { applyJsonPatch, MAX_OPERATIONS } from './json-patch';

const document: JsonValue = { data: { a: '1', b: '2' }, list: ['x', 'y'], none: null, 'm/n': { '~': 1 } };

function codeOf(run: () => unknown): number | undefined {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError) return error.status.code;
    throw error;
  }
  return undefined;
}

describe('a JSON patch', () => {
  const applied: readonly (readonly [string, JsonValue, JsonValue])[] = [
    ['adds a key', [{ op: 'add', path: '/data/c', value: '3' }], { data: { a: '1', b: '2', c: '3' } }],
    ['adds over an existing key', [{ op: 'add', path: '/data/a', value: '9' }], { data: { a: '9', b: '2' } }],
    ['adds null where no value is given', [{ op: 'add', path: '/data/c' }], { data: { a: '1', b: '2', c: null } }],
    ['inserts into a list', [{ op: 'add', path: '/list/1', value: 'z' }], { list: ['x', 'z', 'y'] }],
    ['appends to a list', [{ op: 'add', path: '/list/-', value: 'z' }], { list: ['x', 'y', 'z'] }],
    ['adds at the end of a list', [{ op: 'add', path: '/list/2', value: 'z' }], { list: ['x', 'y', 'z'] }],
    ['removes a key', [{ op: 'remove', path: '/data/a' }], { data: { b: '2' } }],
    ['removes from a list', [{ op: 'remove', path: '/list/0' }], { list: ['y'] }],
    ['replaces', [{ op: 'replace', path: '/list/0', value: 'z' }], { list: ['z', 'y'] }],
    ['creates by replacing', [{ op: 'replace', path: '/data/c', value: '3' }], { data: { a: '1', b: '2', c: '3' } }],
    ['moves', [{ op: 'move', from: '/data/a', path: '/list/0' }], { data: { b: '2' }, list: ['1', 'x', 'y'] }],
    ['copies', [{ op: 'copy', from: '/data/a', path: '/data/c' }], { data: { a: '1', b: '2', c: '1' } }],
    [
      'copies null from an absent key',
      [{ op: 'copy', from: '/data/z', path: '/data/c' }],
      { data: { a: '1', b: '2', c: null } },
    ],
    ['tests', [{ op: 'test', path: '/data/a', value: '1' }], {}],
    ['takes an absent key for null in a test', [{ op: 'test', path: '/data/z', value: null }], {}],
    ['reads escapes', [{ op: 'replace', path: '/m~1n/~0', value: 2 }], { 'm/n': { '~': 2 } }],
    ['may be null', null, {}],
    ['may be empty', [], {}],
    ['ignores what stands before the first slash', [{ op: 'add', path: 'x/y', value: 1 }], { y: 1 }],
  ];
  it.each(applied)('%s', (_name, patch, changes) => {
    const before = JSON.stringify(document);
    expect(applyJsonPatch(document, patch)).toEqual({ ...(document as object), ...(changes as object) });
    expect(JSON.stringify(document)).toBe(before);
  });

  const refused: readonly (readonly [string, JsonValue, number])[] = [
    ['an object', {}, 400],
    ['a text', 'text', 400],
    ['a list of numbers', [1], 400],
    ['a null operation', [null], 422],
    ['no path', [{ op: 'add' }], 422],
    ['a path without a slash', [{ op: 'add', path: 'a', value: 1 }], 422],
    ['the whole document as a place', [{ op: 'replace', path: '', value: {} }], 422],
    ['a test of the whole document', [{ op: 'test', path: '', value: null }], 422],
    ['a copy of the whole document', [{ op: 'copy', from: '', path: '/data/a' }], 422],
    ['an unknown operation', [{ op: 'bogus', path: '/data/a' }], 422],
    ['an add below what is missing', [{ op: 'add', path: '/zz/a', value: 1 }], 422],
    ['an add below null', [{ op: 'add', path: '/none/a', value: 1 }], 422],
    ['a place beyond a list', [{ op: 'add', path: '/list/3', value: 1 }], 422],
    ['a place before a list', [{ op: 'remove', path: '/list/-3' }], 422],
    ['a replacement from the end', [{ op: 'replace', path: '/list/-1', value: 1 }], 422],
    ['the removal of a missing key', [{ op: 'remove', path: '/data/z' }], 422],
    ['the replacement beyond a list', [{ op: 'replace', path: '/list/2', value: 1 }], 422],
    ['a move from a missing key', [{ op: 'move', from: '/data/z', path: '/data/a' }], 422],
    ['a move without from', [{ op: 'move', path: '/data/a' }], 422],
    ['a failed test', [{ op: 'test', path: '/data/a', value: '2' }], 422],
    ['a test without a value of what is there', [{ op: 'test', path: '/data/a' }], 422],
    ['a test below what is missing', [{ op: 'test', path: '/zz/a', value: 'x' }], 422],
    ['a path of megabytes', [{ op: 'add', path: `/${'~0'.repeat(1_000_000)}`, value: 1 }], 422],
    ['too many operations', Array.from({ length: MAX_OPERATIONS + 1 }, () => ({})), 413],
  ];
  it.each(refused)('refuses %s', (_name, patch, code) => {
    expect(codeOf(() => applyJsonPatch(document, patch))).toBe(code);
  });

  it('tells how many operations were too many', () => {
    expect(() =>
      applyJsonPatch(
        {},
        Array.from({ length: 10_001 }, () => ({})),
      ),
    ).toThrow('Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001');
  });

  it('refuses copies that add up to too much', () => {
    const patch = Array.from({ length: 4 }, (_, index) => ({ op: 'copy', from: '/big', path: `/copy${index}` }));
    expect(codeOf(() => applyJsonPatch({ big: 'x'.repeat(1024 * 1024) }, patch))).toBe(422);
  });

  it('copies by value', () => {
    const patch = [
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'add', path: '/b/x', value: 1 },
    ];
    expect(applyJsonPatch({ a: {} }, patch)).toEqual({ a: {}, b: { x: 1 } });
  });

  it('does not change the values of its operations', () => {
    const value = {};
    const patch = [
      { op: 'add', path: '/b', value },
      { op: 'add', path: '/b/x', value: 1 },
    ];
    expect(applyJsonPatch({}, patch)).toEqual({ b: { x: 1 } });
    expect(value).toEqual({});
  });

  it('takes __proto__ for a key like any other', () => {
    const patch = JSON.parse('[{"op":"add","path":"/__proto__","value":{"polluted":true}}]') as JsonValue;
    const result = applyJsonPatch({}, patch);
    expect(JSON.stringify(result)).toBe('{"__proto__":{"polluted":true}}');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(codeOf(() => applyJsonPatch({}, [{ op: 'add', path: '/__proto__/x', value: 1 }]))).toBe(422);
    expect(codeOf(() => applyJsonPatch({}, [{ op: 'add', path: '/constructor/x', value: 1 }]))).toBe(422);
  });

  it('undoes an add by a remove', () => {
    const maps = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(maps, fc.string(), fc.jsonValue(), (map, key, value) => {
        fc.pre(!Object.hasOwn(map, key));
        const path = `/${key.replace(/~/g, '~0').replace(/\//g, '~1')}`;
        const added = applyJsonPatch(map, [{ op: 'add', path, value: value as JsonValue }]);
        expect(applyJsonPatch(added, [{ op: 'test', path, value: value as JsonValue }])).toEqual(added);
        expect(applyJsonPatch(added, [{ op: 'remove', path }])).toEqual(map);
      }),
    );
  });

  it('of the difference of two documents leads from one to the other, and its inverse back', () => {
    const { documents } = fc.letrec<{ documents: JsonValue }>((tie) => ({
      documents: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom<JsonValue>('x', 1, true, null),
        fc.array(tie('documents'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'b/c', 'd~e'), tie('documents')),
      ),
    }));
    fc.assert(
      fc.property(documents, documents, (one, other) => {
        const [before, after] = [{ in: one }, { in: other }];
        const there = applyJsonPatch(before, jsonDiff(before, after));
        expect(there).toEqual(after);
        expect(applyJsonPatch(there, jsonDiff(after, before))).toEqual(before);
      }),
    );
  });
});
