import * as fc from 'fast-check';
import { loadBuiltinSchema } from '../schema/builtin-schema';
import type { JsonObject, JsonValue, KubeObject } from '../object';
import type { StructType, TypeRef } from '../schema/model';
import { inBothForms } from '../steps/both-forms.fixture';
import * as compareInSteps from '../steps/generated/apply/compare';
import * as inSteps from '../steps/generated/apply/field-manager';
import * as mergeInSteps from '../steps/generated/apply/merge-values';
import * as setsInSteps from '../steps/generated/apply/value-sets';
import * as comparing from './compare';
import * as plain from './field-manager';
import { isEmpty, EMPTY_SET, type FieldSet } from './field-set';
import { parseFieldsV1 } from './fields-v1';
import { withoutUnowned } from './managed-fields';
import { widget, widgetKind } from './merge-model.fixture';
import { mergeTypeOf } from './merge-type';
import { jsonEqual } from '../patch/json-equal';
import * as merging from './merge-values';
import { difference, equals, union } from './set-algebra';
import * as sets from './value-sets';

const apply = inBothForms(plain.apply, inSteps.apply);
const trackUpdate = inBothForms(plain.trackUpdate, inSteps.trackUpdate);
const compare = inBothForms(comparing.compare, compareInSteps.compare);
const merge = inBothForms(merging.merge, mergeInSteps.merge);
const toFieldSet = inBothForms(sets.toFieldSet, setsInSteps.toFieldSet);

const NOW = '2020-01-01T00:00:00Z';
const key = fc.constantFrom('a', 'b', 'c');

/** Configurations whose every list item has its keys once. */
const spec = (names: fc.Arbitrary<string>): fc.Arbitrary<JsonObject> =>
  fc.record(
    {
      replicas: fc.integer({ min: 0, max: 2 }),
      text: key,
      options: fc.dictionary(names, key, { minKeys: 1 }),
      tags: fc.uniqueArray(names, { minLength: 1 }),
      args: fc.array(key, { minLength: 1, maxLength: 2 }),
      items: fc.uniqueArray(fc.record({ name: names, value: key }, { requiredKeys: ['name'] }), {
        selector: (item) => item.name,
        minLength: 1,
      }),
    },
    { requiredKeys: [] },
  );

const anySpec = spec(key);

function configuration(content: JsonObject): JsonObject {
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec: content };
}

function applied(live: KubeObject | undefined, content: JsonObject, manager: string): KubeObject {
  return apply({ type: widget, gvk: widgetKind, live, applied: configuration(content), manager, now: NOW, force: true })
    .object;
}

function updated(live: KubeObject | undefined, content: JsonObject, manager: string): KubeObject {
  const object = {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'w', uid: 'u' },
    spec: content,
    status: {},
  };
  return trackUpdate({ type: widget, gvk: widgetKind, live, object, manager, now: NOW, custom: true });
}

/** Content regardless of the order of items, without what is empty. */
function content(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(content).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (value === null || typeof value !== 'object') return value;
  const members = Object.entries(value as JsonObject)
    .map(([name, member]) => [name, content(member)] as const)
    .filter(([, member]) => member !== null && member !== undefined && JSON.stringify(member) !== '{}')
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members);
}

function owned(object: KubeObject, manager: string): FieldSet {
  const entry = object.metadata.managedFields?.find((each) => each.manager === manager);
  return entry?.fieldsV1 === undefined ? EMPTY_SET : parseFieldsV1(entry.fieldsV1);
}

describe('laws of apply', () => {
  it('applying twice is applying once', () => {
    fc.assert(
      fc.property(anySpec, anySpec, (before, next) => {
        const once = applied(updated(undefined, before, 'u'), next, 'm');
        expect(applied(once, next, 'm')).toBe(once);
      }),
    );
  });

  it('applying nothing after applying returns to what was before', () => {
    fc.assert(
      fc.property(spec(fc.constantFrom('a', 'b')), spec(fc.constantFrom('c', 'd')), (before, next) => {
        const { replicas: _, text: __, args: ___, ...disjoint } = next;
        const start = updated(undefined, before, 'u');
        const back = applied(applied(start, disjoint, 'm'), {}, 'm');
        expect(content(back)).toEqual(content(start));
      }),
    );
  });

  it('managers of different fields may come in any order', () => {
    fc.assert(
      fc.property(spec(fc.constantFrom('a', 'b')), spec(fc.constantFrom('c', 'd')), (one, other) => {
        const { replicas: _, text: __, args: ___, ...disjoint } = other;
        const forwards = applied(applied(undefined, one, 'm1'), disjoint, 'm2');
        const backwards = applied(applied(undefined, disjoint, 'm2'), one, 'm1');
        expect(content(forwards)).toEqual(content(backwards));
      }),
    );
  });

  it('an applier owns exactly its configuration', () => {
    fc.assert(
      fc.property(anySpec, anySpec, anySpec, (before, last, next) => {
        const result = applied(applied(updated(undefined, before, 'u'), last, 'm'), next, 'm');
        const wanted = withoutUnowned(toFieldSet(mergeTypeOf(widget), configuration(next)));
        expect(equals(owned(result, 'm'), wanted)).toBe(true);
      }),
    );
  });

  it('ownership after updates is what a replay from scratch says', () => {
    const writers = fc.array(fc.tuple(fc.constantFrom('u1', 'u2', 'u3'), anySpec), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(writers, (writes) => {
        let live: KubeObject | undefined;
        const expected = new Map<string, FieldSet>();
        let before: JsonObject = { metadata: {}, spec: {}, status: {} };
        for (const [manager, next] of writes) {
          live = updated(live, next, manager);
          const after: JsonObject = { ...before, spec: next };
          const { added, removed, modified } = compare(mergeTypeOf(widget), before, after);
          const taken = union(added, modified);
          for (const [name, set] of expected) expected.set(name, difference(difference(set, taken), removed));
          expected.set(manager, union(expected.get(manager) ?? EMPTY_SET, taken));
          before = after;
          // An object whose last owner is gone is no longer tracked.
          if ([...expected.values()].every(isEmpty)) return;
        }
        for (const [name, set] of expected) {
          expect(equals(owned(live as KubeObject, name), set)).toBe(true);
        }
      }),
    );
  });

  it('everything that an update adds has an owner', () => {
    fc.assert(
      fc.property(anySpec, anySpec, (before, next) => {
        const live = updated(updated(undefined, before, 'u1'), next, 'u2');
        const all = withoutUnowned(toFieldSet(mergeTypeOf(widget), live as unknown as JsonValue));
        expect(isEmpty(difference(all, union(owned(live, 'u1'), owned(live, 'u2'))))).toBe(true);
      }),
    );
  });
});

/** Any value of a type, a few levels deep. */
function valueOf(type: TypeRef, depth: number): fc.Arbitrary<JsonValue> | undefined {
  switch (type.kind) {
    case 'scalar':
      if (type.scalar === 'string') return key;
      if (type.scalar === 'bytes') return fc.constantFrom('YQ==', 'Yg==');
      return type.scalar === 'bool' ? fc.boolean() : fc.integer({ min: 0, max: 3 });
    case 'special':
      if (type.special === 'Quantity') return fc.constantFrom('1', '500m');
      if (type.special === 'IntOrString') return fc.constantFrom<JsonValue>(1, '25%');
      return type.special === 'Time' || type.special === 'MicroTime' ? fc.constant(NOW) : undefined;
    case 'list': {
      const merged = mergeTypeOf(type);
      const item = depth > 0 ? valueOf(type.items, depth - 1) : undefined;
      if (item === undefined || merged.kind !== 'list') return undefined;
      if (merged.relation === 'atomic') return fc.array(item, { maxLength: 2 });
      if (merged.relation === 'set') return fc.uniqueArray(item, { maxLength: 2 });
      const { keys } = merged;
      const keyed = fc.tuple(item, key).map(([value, name]) => {
        const identity = keys.map((each) => [
          each.name,
          each.name.toLowerCase().includes('port') ? name.charCodeAt(0) : name,
        ]);
        return { ...(value as JsonObject), ...(Object.fromEntries(identity) as JsonObject) };
      });
      return fc.uniqueArray(keyed, {
        maxLength: 2,
        selector: (value) => JSON.stringify(keys.map((each) => value[each.name])),
      });
    }
    case 'map': {
      const value = depth > 0 ? valueOf(type.values, depth - 1) : undefined;
      return value && fc.dictionary(key, value, { maxKeys: 2 });
    }
    case 'struct':
      return depth > 0 ? structOf(type, depth - 1) : undefined;
    case 'any':
      return undefined;
  }
}

function structOf(type: StructType, depth: number): fc.Arbitrary<JsonObject> {
  const fields: Record<string, fc.Arbitrary<JsonValue>> = {};
  for (const field of type.fields.values()) {
    const value = valueOf(field.type, depth);
    if (value !== undefined && field.name !== 'managedFields') fields[field.name] = value;
  }
  return fc.record(fields, { requiredKeys: [] });
}

describe.each([
  ['apps', 'v1', 'Deployment'],
  ['', 'v1', 'Service'],
  ['', 'v1', 'Node'],
  ['networking.k8s.io', 'v1', 'Ingress'],
])('objects of kind %s/%s %s', (group, version, kind) => {
  const type = loadBuiltinSchema().kind(group, version, kind) as StructType;
  const merged = mergeTypeOf(type);
  const objects = structOf(type, 6);

  it('do not differ from themselves, and differ by all that they hold from nothing', () => {
    fc.assert(
      fc.property(objects, (object) => {
        const copy = JSON.parse(JSON.stringify(object)) as JsonObject;
        const { added, removed, modified } = compare(merged, object, copy);
        expect([added, removed, modified].every(isEmpty)).toBe(true);
        expect(isEmpty(difference(toFieldSet(merged, object), compare(merged, {}, object).added))).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it('merged with one another hold all that was applied, and merging again changes nothing', () => {
    fc.assert(
      fc.property(objects, objects, (live, config) => {
        const result = merge(merged, live, config) as JsonValue;
        expect(isEmpty(difference(toFieldSet(merged, config), compare(merged, {}, result).added))).toBe(true);
        expect(jsonEqual(merge(merged, result, config), result)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });
});
