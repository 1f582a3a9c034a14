import * as fc from 'fast-check';
import { widget } from '../apply/merge-model.fixture';
import type { JsonObject, JsonValue } from '../object';
import type { StatusError } from '../errors/status-error';
import { strategicDiff } from './diff.fixture';
import { applyStrategicMergePatch } from './strategic-merge';

function patchSpec(original: JsonObject, patch: JsonObject): JsonValue | undefined {
  return applyStrategicMergePatch(widget, { spec: original }, { spec: patch })['spec'];
}

function names(spec: JsonValue | undefined): readonly string[] {
  return ((spec as { items: { name: string }[] }).items ?? []).map((item) => item.name);
}

function items(...list: readonly string[]): JsonObject {
  return { items: list.map((name) => ({ name, value: name })) };
}

describe('strategic merge patch', () => {
  it.each<[string, JsonObject, JsonObject, JsonObject]>([
    [
      'merges maps and removes nulls',
      { options: { a: '1', b: '2' } },
      { options: { a: null, c: '3' } },
      { options: { b: '2', c: '3' } },
    ],
    ['drops nulls that meet nothing', {}, { options: { a: null, c: '3' } }, { options: { c: '3' } }],
    ['replaces lists without a strategy', { args: ['a', 'b'] }, { args: ['c'] }, { args: ['c'] }],
    ['unites primitive lists', { tags: ['a', 'b'] }, { tags: ['b', 'c'] }, { tags: ['a', 'b', 'c'] }],
    [
      'deletes from primitive lists',
      { tags: ['a', 'b'] },
      { '$deleteFromPrimitiveList/tags': ['a', 'x'] },
      { tags: ['b'] },
    ],
    [
      'orders primitive lists',
      { tags: ['a', 'b', 'c'] },
      { '$setElementOrder/tags': ['c', 'a'] },
      { tags: ['b', 'c', 'a'] },
    ],
    [
      'merges items by key',
      items('a', 'b'),
      { items: [{ name: 'b', value: 'x' }] },
      {
        items: [
          { name: 'a', value: 'a' },
          { name: 'b', value: 'x' },
        ],
      },
    ],
    [
      'merges items by the merge key alone',
      { items: [{ name: 'a', ports: [{ port: 1, protocol: 'TCP' }] }] },
      { items: [{ name: 'a', ports: [{ port: 1, protocol: 'UDP' }] }] },
      { items: [{ name: 'a', ports: [{ port: 1, protocol: 'UDP' }] }] },
    ],
    ['replaces a map', { options: { a: '1' } }, { options: { $patch: 'replace', b: '2' } }, { options: { b: '2' } }],
    ['empties a map', { options: { a: '1' } }, { options: { $patch: 'delete' } }, { options: {} }],
    ['replaces a list', items('a'), { items: [{ $patch: 'replace' }, { name: 'z' }] }, { items: [{ name: 'z' }] }],
    [
      'keeps only the keys to retain',
      { strategy: { type: 'R', rolling: 'x' } },
      { strategy: { $retainKeys: ['type'], type: 'C' } },
      { strategy: { type: 'C' } },
    ],
    [
      'drops directives that meet nothing',
      {},
      { strategy: { $retainKeys: ['type'], type: 'C' }, items: [{ name: 'a', $patch: 'delete' }] },
      { strategy: { type: 'C' }, items: [{ name: 'a' }] },
    ],
    [
      'keeps directives as keys of maps that are not there',
      {},
      { options: { $patch: 'merge' } },
      { options: { $patch: 'merge' } },
    ],
    ['takes a value of another shape', { args: ['a'] }, { args: 'x' }, { args: 'x' }],
  ])('%s', (_, original, patch, expected) => {
    const before = JSON.stringify([original, patch]);
    expect(patchSpec(original, patch)).toEqual(expected);
    expect(JSON.stringify([original, patch])).toBe(before);
  });

  it.each<[string, JsonObject, readonly string[]]>([
    ['a new item goes first', { items: [{ name: 'n' }] }, ['n', 'a', 'b', 'c']],
    ['a deleted item goes', { items: [{ name: 'b', $patch: 'delete' }] }, ['a', 'c']],
    ['deleting what is not there is nothing', { items: [{ name: 'n', $patch: 'delete' }] }, ['a', 'b', 'c']],
    [
      'an order moves items',
      { '$setElementOrder/items': [{ name: 'c' }, { name: 'a' }, { name: 'b' }] },
      ['c', 'a', 'b'],
    ],
    [
      'what the order does not name keeps its place',
      { '$setElementOrder/items': [{ name: 'c' }, { name: 'a' }] },
      ['b', 'c', 'a'],
    ],
    [
      'an order with a new item',
      {
        '$setElementOrder/items': [{ name: 'a' }, { name: 'n' }, { name: 'b' }, { name: 'c' }],
        items: [{ name: 'n' }],
      },
      ['a', 'n', 'b', 'c'],
    ],
  ])('%s', (_, patch, expected) => {
    expect(names(patchSpec(items('a', 'b', 'c'), patch))).toEqual(expected);
  });

  it.each<[JsonObject, string]>([
    [{ items: [{ value: 'x' }] }, 'map: map[value:x] does not contain declared merge key: name'],
    [{ items: [{ name: 'a', $patch: 'odd' }] }, 'unknown patch type: odd in map: map[$patch:odd name:a]'],
    [{ items: [{ $patch: 'merge' }] }, 'merging lists cannot yet be specified in the patch'],
    [{ items: ['a'] }, 'list element types are not identical: [[map[name:a value:a]] [a]]'],
    [{ '$setElementOrder/items': 'a' }, 'expected a []interface {}, but received a string'],
    [{ '$setElementOrder/items': [{ value: 'a' }] }, 'map: map[value:a] does not contain declared merge key: name'],
    [
      { '$setElementOrder/items': [{ name: 'a' }], items: [{ name: 'n' }] },
      "The order in patch list:\n[map[name:n]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
    ],
    [{ strategy: { $retainKeys: ['type'], rolling: 'x' } }, 'invalid patch format of retainKeys'],
    [{ $patch: 'merge' }, 'unknown patch type: merge in map: map[$patch:merge]'],
  ])('refuses %j', (patch, message) => {
    const original = { ...items('a'), strategy: { type: 'x' } };
    expect(() => patchSpec(original, patch)).toThrow(message);
    try {
      patchSpec(original, patch);
    } catch (error) {
      expect((error as StatusError).status.code).toBe(400);
    }
  });
});

interface Spec extends JsonObject {
  readonly options: Readonly<Record<string, string>>;
  readonly args: readonly string[];
  readonly tags: readonly string[];
  readonly items: readonly { readonly name: string; readonly value: string }[];
}

const letter = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const spec: fc.Arbitrary<Spec> = fc.record({
  options: fc.dictionary(letter, letter),
  args: fc.array(letter, { maxLength: 4 }),
  tags: fc.uniqueArray(letter),
  items: fc.uniqueArray(fc.record({ name: letter, value: letter }), { selector: (item) => item.name }),
});

describe('laws of strategic merge patch', () => {
  it('the difference of two objects leads from one to the other', () => {
    fc.assert(
      fc.property(spec, spec, (before, after) => {
        expect(
          applyStrategicMergePatch(widget, { spec: before }, strategicDiff(widget, { spec: before }, { spec: after })),
        ).toEqual({ spec: after });
      }),
    );
  });

  it('applying a patch twice is applying it once', () => {
    fc.assert(
      fc.property(spec, spec, (before, after) => {
        const patch = { options: after.options, tags: after.tags, items: after.items };
        const once = patchSpec(before, patch) as JsonObject;
        expect(patchSpec(once, patch)).toEqual(once);
      }),
    );
  });

  it('an empty patch changes nothing', () => {
    fc.assert(fc.property(spec, (before) => expect(patchSpec(before, {})).toEqual(before)));
  });
});
