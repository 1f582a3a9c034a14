import type { JsonValue } from '../object';
import { compare } from './compare';
import { setOf } from './field-set';
import { toFieldsV1 } from './fields-v1';
import { freeform, list, struct, text, widget } from './merge-model.fixture';
import { mergeTypeOf } from './merge-type';
import { printPath } from './path-element';
import { merge, removeItems } from './merge-values';
import { paths } from './set-paths';
import { validateTyped } from './validate-typed';
import { toFieldSet } from './value-sets';
import { zeroObject } from './zero-object';

const type = mergeTypeOf(widget);
const free = mergeTypeOf(freeform);

function printed(value: ReturnType<typeof toFieldSet>): readonly string[] {
  return paths(value).map(printPath);
}

describe('toFieldSet', () => {
  it.each<[string, JsonValue, JsonValue]>([
    ['scalars', { spec: { replicas: 1 } }, { 'f:spec': { 'f:replicas': {} } }],
    ['keys of maps', { spec: { options: { k: '1' } } }, { 'f:spec': { 'f:options': { 'f:k': {} } } }],
    [
      'atomic lists and structs',
      { spec: { args: ['x'], selector: { a: '1' } } },
      { 'f:spec': { 'f:args': {}, 'f:selector': {} } },
    ],
    ['entries of sets', { spec: { tags: ['x', 'y'] } }, { 'f:spec': { 'f:tags': { 'v:"x"': {}, 'v:"y"': {} } } }],
    [
      'items by key, with keys that have defaults',
      { spec: { items: [{ name: 'i', ports: [{ port: 80 }] }] } },
      {
        'f:spec': {
          'f:items': {
            'k:{"name":"i"}': {
              '.': {},
              'f:name': {},
              'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {} } },
            },
          },
        },
      },
    ],
    ['an empty struct only where it need not be there', { spec: {} }, {}],
    [
      'an empty optional struct',
      { spec: { items: [{ name: 'i', source: {} }] } },
      { 'f:spec': { 'f:items': { 'k:{"name":"i"}': { '.': {}, 'f:name': {}, 'f:source': {} } } } },
    ],
    ['null for a scalar', { spec: { text: null } }, { 'f:spec': { 'f:text': {} } }],
  ])('owns %s', (_, object, fields) => {
    expect(toFieldsV1(toFieldSet(type, object))).toEqual(fields);
  });

  it('owns all keys of what has no schema, and its lists whole', () => {
    const object = { spec: { a: 1, list: [{ name: 'x' }], m: { k: 'v' }, n: null } };
    expect(toFieldsV1(toFieldSet(free, object))).toEqual({
      'f:spec': { '.': {}, 'f:a': {}, 'f:list': {}, 'f:m': { '.': {}, 'f:k': {} }, 'f:n': {} },
    });
  });
});

describe('compare', () => {
  it.each<[string, JsonValue, JsonValue, { added?: string[]; removed?: string[]; modified?: string[] }]>([
    ['nothing', { spec: { replicas: 1 } }, { spec: { replicas: 1 } }, {}],
    ['a scalar', { spec: { replicas: 1 } }, { spec: { replicas: 2 } }, { modified: ['.spec.replicas'] }],
    [
      'a map that comes',
      { spec: {} },
      { spec: { options: { a: '1' } } },
      { added: ['.spec.options', '.spec.options.a'] },
    ],
    [
      'a key that goes',
      { spec: { options: { a: '1', b: '1' } } },
      { spec: { options: { a: '1' } } },
      { removed: ['.spec.options.b'] },
    ],
    [
      'an order of items',
      { spec: { items: [{ name: 'a' }, { name: 'b' }] } },
      { spec: { items: [{ name: 'b' }, { name: 'a' }] } },
      {},
    ],
    [
      'items that come and go',
      { spec: { items: [{ name: 'a' }] } },
      { spec: { items: [{ name: 'b' }] } },
      {
        added: ['.spec.items[name="b"]', '.spec.items[name="b"].name'],
        removed: ['.spec.items[name="a"]', '.spec.items[name="a"].name'],
      },
    ],
    [
      'a key with its default',
      { spec: { items: [{ name: 'a', ports: [{ port: 1 }] }] } },
      { spec: { items: [{ name: 'a', ports: [{ port: 1, name: 'x' }] }] } },
      { added: ['.spec.items[name="a"].ports[port=1,protocol="TCP"].name'] },
    ],
    [
      'a set',
      { spec: { tags: ['a', 'b'] } },
      { spec: { tags: ['b', 'c'] } },
      { added: ['.spec.tags[="c"]'], removed: ['.spec.tags[="a"]'] },
    ],
    ['an atomic list', { spec: { args: ['a'] } }, { spec: { args: ['a', 'b'] } }, { modified: ['.spec.args'] }],
    [
      'an atomic struct',
      { spec: { selector: { a: '1' } } },
      { spec: { selector: { b: '1' } } },
      { modified: ['.spec.selector'] },
    ],
    ['a list that becomes empty', { spec: { tags: ['a'] } }, { spec: { tags: [] } }, { removed: ['.spec.tags[="a"]'] }],
    [
      'items that share a key',
      { spec: { items: [{ name: 'a' }, { name: 'a', value: '1' }] } },
      { spec: { items: [{ name: 'a' }] } },
      { modified: ['.spec.items[name="a"]'] },
    ],
  ])('finds %s', (_, before, after, { added = [], removed = [], modified = [] }) => {
    const comparison = compare(type, before, after);
    expect(printed(comparison.added)).toEqual(added);
    expect(printed(comparison.removed)).toEqual(removed);
    expect(printed(comparison.modified)).toEqual(modified);
  });

  it('sees a map without schema turn into a text', () => {
    const comparison = compare(free, { spec: { m: { k: 'v' } } }, { spec: { m: 'text' } });
    expect(printed(comparison.modified)).toEqual(['.spec.m']);
    expect(printed(comparison.removed)).toEqual(['.spec.m.k']);
  });

  it('does not mistake what objects inherit for members', () => {
    const before = JSON.parse('{"spec":{"options":{"constructor":"1"}}}') as JsonValue;
    const after = JSON.parse('{"spec":{"options":{"__proto__":"1"}}}') as JsonValue;
    const comparison = compare(type, before, after);
    expect(printed(comparison.added)).toEqual(['.spec.options.__proto__']);
    expect(printed(comparison.removed)).toEqual(['.spec.options.constructor']);
    expect(JSON.stringify(merge(type, before, after))).toBe('{"spec":{"options":{"constructor":"1","__proto__":"1"}}}');
  });
});

describe('merge', () => {
  it.each<[string, JsonValue, JsonValue, JsonValue]>([
    [
      'maps key by key',
      { spec: { options: { a: '1' } } },
      { spec: { options: { b: '2' } } },
      { spec: { options: { a: '1', b: '2' } } },
    ],
    [
      'null for a key that is new',
      { spec: { options: { a: '1' } } },
      { spec: { options: { b: null } } },
      { spec: { options: { a: '1', b: null } } },
    ],
    [
      'items in their live order, new ones last',
      { spec: { items: [{ name: 'a' }, { name: 'b' }] } },
      { spec: { items: [{ name: 'c' }, { name: 'b', value: 'v' }] } },
      { spec: { items: [{ name: 'a' }, { name: 'b', value: 'v' }, { name: 'c' }] } },
    ],
    ['sets', { spec: { tags: ['c', 'a'] } }, { spec: { tags: ['b', 'a'] } }, { spec: { tags: ['c', 'a', 'b'] } }],
    ['atomic lists by replacing them', { spec: { args: ['a'] } }, { spec: { args: ['b'] } }, { spec: { args: ['b'] } }],
    [
      'null over a map as nothing',
      { spec: { options: { a: '1' } } },
      { spec: { options: null } },
      { spec: { options: { a: '1' } } },
    ],
    ['null over a scalar as null', { spec: { text: 'a' } }, { spec: { text: null } }, { spec: { text: null } }],
  ])('lays %s', (_, live, applied, expected) => {
    expect(merge(type, live, applied)).toEqual(expected);
  });
});

describe('removeItems', () => {
  it('takes out fields and items, and what they leave empty', () => {
    const object = {
      spec: { replicas: 1, options: { a: '1' }, items: [{ name: 'a', value: 'v' }, { name: 'b' }], args: ['x'] },
    };
    const set = setOf(
      ['f:spec', 'f:options', 'f:a'],
      ['f:spec', 'f:items', 'k:{"name":"b"}'],
      ['f:spec', 'f:items', 'k:{"name":"a"}', 'f:value'],
    );
    expect(removeItems(type, object, set)).toEqual({ spec: { replicas: 1, items: [{ name: 'a' }], args: ['x'] } });
  });
});

describe('validateTyped', () => {
  it.each<[JsonValue, string]>([
    [{ bogus: 1 }, '.bogus: field not declared in schema'],
    [{ spec: { text: 5 } }, '.spec.text: expected string, got &value.valueUnstructured{Value:5}'],
    [{ spec: { replicas: 'x' } }, '.spec.replicas: expected numeric (int or float), got *value.valueUnstructured'],
    [{ spec: { tags: ['d', 'd'] } }, '.spec.tags: duplicate entries for key [="d"]'],
    [{ spec: { items: [{ name: 'q' }, { name: 'q' }] } }, '.spec.items: duplicate entries for key [name="q"]'],
    [
      { spec: { items: [{}] } },
      '.spec.items: element 0: associative list with keys has an element that omits key field "name" (and doesn\'t have default value)',
    ],
    [{ spec: { items: ['x'] } }, '.spec.items: element 0: associative list with keys may not have non-map elements'],
    [{ spec: { items: {} } }, '.spec.items: expected list, got &{map[]}'],
    [{ spec: [] }, '.spec: expected map, got &{[]}'],
    [
      { spec: { a: 1, b: 2 } },
      'errors:\n  .spec.a: field not declared in schema\n  .spec.b: field not declared in schema',
    ],
  ])('refuses %j', (object, message) => {
    expect(() => validateTyped(type, object)).toThrow(message);
  });

  it('takes an item without key for the one that its default names', () => {
    const item = struct('item', { name: { type: text, defaultValue: 'main' }, value: text });
    const keyed = mergeTypeOf(struct('Keyed', { items: list(item, { listType: 'map', listMapKeys: ['name'] }) }));
    expect(() => validateTyped(keyed, { items: [{ value: 'x' }, { name: 'main' }] })).toThrow(
      '.items: duplicate entries for key [name="main"]',
    );
    validateTyped(keyed, { items: [{ value: 'x' }, { name: 'other' }] });
  });

  it('accepts null everywhere and anything where there is no schema', () => {
    validateTyped(type, { spec: { text: null, items: null, options: null }, metadata: null });
    validateTyped(free, { a: { b: [{ c: 1 }] } });
  });
});

it('the zero object holds what is always emitted', () => {
  expect(zeroObject(widget)).toEqual({ metadata: {}, spec: {}, status: {} });
});
