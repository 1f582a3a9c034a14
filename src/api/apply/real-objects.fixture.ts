import * as fc from 'fast-check';
import { CATALOGUE } from '../kinds/catalogue';
import type { GroupVersionKind, JsonObject, JsonValue } from '../object';
import { loadBuiltinSchema } from '../schema/builtin-schema';
import type { Field, ListTypeRef, ScalarName, SpecialName, StructType, TypeRef } from '../schema/model';
import { isList, isObject } from './members';
import { ANY_MAP, mergeTypeOf, type ListKey, type MergeType } from './merge-type';

/**
 * Objects of the built-in kinds, out of the schema alone: they fit their type, and their lists hold each key once, but
 * nothing else about them is valid. Few values and few keys are used, so that two objects have much in common.
 */

export interface RealKind {
  readonly gvk: GroupVersionKind;
  readonly type: StructType;
}

/** Every kind that is stored, in every version in which it is served. */
export const REAL_KINDS: readonly RealKind[] = CATALOGUE.flatMap(({ kind, versions }) =>
  versions.flatMap(({ group, version }) => {
    const type = loadBuiltinSchema().kind(group, version, kind);
    return type?.fields.has('metadata') === true ? [{ gvk: { group, version, kind }, type }] : [];
  }),
);

export interface ObjectOptions {
  /** How many structs may stand inside of each other. */
  readonly depth?: number;
  /** Members may be null, maps and lists empty. */
  readonly empties?: boolean;
  /**
   * What tells the items of a keyed list apart: all keys, or that of strategic merge patch alone, which takes ports of
   * two protocols for one.
   */
  readonly identity?: 'keys' | 'patchMergeKey';
}

const DEPTH = 6;
/** A struct gets so many of its fields at most that lead to merged lists, and as many others. */
const CHOSEN_FIELDS = 3;
/** Metadata that has owners. */
const METADATA = ['labels', 'annotations', 'finalizers', 'ownerReferences'];

const letter = fc.constantFrom('a', 'b', 'c');
const small = fc.integer({ min: 1, max: 3 });
const SCALARS: Readonly<Record<ScalarName, fc.Arbitrary<JsonValue>>> = {
  string: letter,
  bool: fc.boolean(),
  int32: small,
  int64: small,
  double: small,
  bytes: fc.constantFrom('YQ==', 'Yg=='),
};
const SPECIALS: Readonly<Record<SpecialName, fc.Arbitrary<JsonValue>>> = {
  Time: fc.constantFrom('2020-01-01T00:00:00Z', '2021-01-01T00:00:00Z'),
  MicroTime: fc.constantFrom('2020-01-01T00:00:00.000000Z', '2021-01-01T00:00:00.000001Z'),
  Duration: fc.constantFrom('1m0s', '1h0m0s'),
  Quantity: fc.constantFrom('1', '500m', '2Gi'),
  IntOrString: fc.constantFrom<JsonValue>(1, 2, '25%'),
  RawExtension: fc.constantFrom<JsonValue>({ a: 1 }, { a: { b: ['c'] } }),
  FieldsV1: fc.constant({}),
  JSON: fc.constantFrom<JsonValue>('a', 1, true),
  JSONSchemaPropsOrBool: fc.boolean(),
  JSONSchemaPropsOrArray: fc.constant({ type: 'a' }),
  JSONSchemaPropsOrStringArray: fc.constant({ type: 'a' }),
};

/** Objects of a kind, named `x`. */
export function objectsOf({ gvk, type }: RealKind, options: ObjectOptions = {}): fc.Arbitrary<JsonObject> {
  const values = new Values(options);
  const { group, version, kind } = gvk;
  const meta = type.fields.get('metadata')?.type as StructType;
  const metadata = values.recordOf(
    METADATA.map((name) => meta.fields.get(name) as Field),
    1,
  );
  const fields = [...type.fields.values()].filter(({ name }) => !['metadata', 'apiVersion', 'kind'].includes(name));
  return fc
    .record({ metadata, content: values.recordOf(fields, options.depth ?? DEPTH) })
    .map(({ metadata: given, content }) => ({
      apiVersion: group === '' ? version : `${group}/${version}`,
      kind,
      metadata: { name: 'x', ...given },
      ...content,
    }));
}

/** The arbitraries of types, each made once for each depth. */
class Values {
  private readonly least: number;
  private readonly known = new Map<TypeRef, Map<number, fc.Arbitrary<JsonValue> | undefined>>();

  constructor(private readonly options: ObjectOptions) {
    this.least = options.empties === true ? 0 : 1;
  }

  /** Undefined: there is no room for values of the type. */
  private valueOf(type: TypeRef, depth: number): fc.Arbitrary<JsonValue> | undefined {
    let byDepth = this.known.get(type);
    if (byDepth === undefined) this.known.set(type, (byDepth = new Map<number, fc.Arbitrary<JsonValue> | undefined>()));
    if (!byDepth.has(depth)) byDepth.set(depth, this.make(type, depth));
    return byDepth.get(depth);
  }

  private make(type: TypeRef, depth: number): fc.Arbitrary<JsonValue> | undefined {
    switch (type.kind) {
      case 'scalar':
        return SCALARS[type.scalar];
      case 'special':
        return SPECIALS[type.special];
      case 'any':
        return letter;
      case 'struct':
        return depth > 0 ? this.recordOf([...type.fields.values()], depth - 1) : undefined;
      case 'map': {
        const value = this.valueOf(type.values, depth);
        return value && fc.dictionary(letter, value, { minKeys: this.least, maxKeys: 2 });
      }
      case 'list':
        return this.list(type, depth);
    }
  }

  /** A struct of some of these fields. */
  recordOf(fields: readonly Field[], depth: number): fc.Arbitrary<JsonObject> {
    const known = fields.flatMap((field) => {
      // A zero that is always written says nothing, and is not owned.
      const known = this.valueOf(field.type, depth);
      const value = field.always ? known?.filter((one) => one !== false) : known;
      if (value === undefined) return [];
      const nullable = this.options.empties === true ? fc.option(value, { nil: null, freq: 8 }) : value;
      return [{ name: field.name, value: nullable, merged: leadsToMergedList(field.type) }];
    });
    const some = (merged: boolean) =>
      fc.subarray(
        known.filter((field) => field.merged === merged),
        { maxLength: Math.min(CHOSEN_FIELDS, known.filter((field) => field.merged === merged).length) },
      );
    return fc
      .tuple(some(true), some(false))
      .chain((chosen) => fc.record(Object.fromEntries(chosen.flat().map(({ name, value }) => [name, value]))));
  }

  private list(type: ListTypeRef, depth: number): fc.Arbitrary<JsonValue> | undefined {
    const merged = mergeTypeOf(type);
    const item = this.valueOf(type.items, depth);
    if (item === undefined || merged.kind !== 'list') return undefined;
    const { patchMergeKey } = type;
    if (merged.relation === 'atomic' && type.patchStrategy !== 'merge')
      return fc.array(item, { minLength: this.least, maxLength: 2 });
    const listKeys =
      merged.keys.length > 0 || patchMergeKey === undefined
        ? merged.keys
        : [{ name: patchMergeKey, defaultValue: undefined }];
    if (listKeys.length === 0 || type.items.kind !== 'struct')
      return fc.uniqueArray(item, { minLength: this.least, maxLength: 3 });
    const { fields } = type.items;
    const key = ({ name, defaultValue }: ListKey): fc.Arbitrary<JsonValue | undefined> => {
      const value = this.valueOf(fields.get(name)?.type as TypeRef, 0) as fc.Arbitrary<JsonValue>;
      // One that is called by no name at all is for other tests: strategic merge patches refuse it.
      const isNamed = defaultValue === undefined || defaultValue === '' || defaultValue === 0;
      return isNamed ? value : fc.option(fc.constantFrom(defaultValue, 'z'), { nil: undefined });
    };
    const keyed = fc
      .tuple(item, fc.record(Object.fromEntries(listKeys.map((each) => [each.name, key(each)]))))
      .map(([value, keys]) => {
        const all = { ...(value as JsonObject) } as Record<string, JsonValue>;
        for (const [name, one] of Object.entries(keys)) {
          if (one === undefined) delete all[name];
          else all[name] = one;
        }
        return all;
      });
    const names = listKeys.filter(
      ({ name }) => this.options.identity !== 'patchMergeKey' || patchMergeKey === undefined || name === patchMergeKey,
    );
    return fc.uniqueArray(keyed, {
      minLength: this.least,
      maxLength: 3,
      selector: (value) => JSON.stringify(names.map(({ name, defaultValue }) => value[name] ?? defaultValue)),
    });
  }
}

const leading = new Map<TypeRef, boolean>();

/** Whether a list that is merged item by item stands somewhere in values of the type. */
function leadsToMergedList(type: TypeRef): boolean {
  const known = leading.get(type);
  if (known !== undefined) return known;
  leading.set(type, false); // for types that contain themselves
  const merged = mergeTypeOf(type);
  const found =
    (merged.kind === 'list' && merged.relation !== 'atomic') ||
    (type.kind === 'list' && leadsToMergedList(type.items)) ||
    (type.kind === 'map' && leadsToMergedList(type.values)) ||
    (type.kind === 'struct' && [...type.fields.values()].some((field) => leadsToMergedList(field.type)));
  leading.set(type, found);
  return found;
}

/** What {@link variantOf} decides by: drop, change or keep. */
export const decisions = fc.array(fc.nat(7), { minLength: 20, maxLength: 60 });

/**
 * A part of an object: some of its fields and items, lists and maps that are one leaf whole or not at all. With `changing`
 * some of its leaves have another value. What loses all that it held goes.
 */
export function variantOf(
  type: StructType,
  object: JsonObject,
  drawn: readonly number[],
  changing: boolean,
): JsonObject {
  let next = 0;
  const draw = (): number => drawn[next++ % drawn.length] as number;
  const dropped = (): boolean => draw() < 2;

  const part = (merged: MergeType, value: JsonValue): JsonValue | undefined => {
    if (merged.kind === 'list' && merged.relation !== 'atomic' && isList(value) && value.length > 0) {
      const keys = new Set(merged.keys.map(({ name }) => name));
      const items = value.flatMap((item) => (dropped() ? [] : [itemPart(merged.items, item, keys)]));
      return items.length === 0 ? undefined : items;
    }
    if (isObject(value) && Object.keys(value).length > 0 && (merged.kind === 'map' || merged.kind === 'any')) {
      if (merged.kind === 'any' ? merged.atomic : merged.atomic) return value;
      return members(merged.kind === 'any' ? ANY_MAP : merged, value, new Set());
    }
    return changing && draw() === 2 ? otherScalar(value) : value;
  };
  const itemPart = (merged: MergeType, item: JsonValue, keys: ReadonlySet<string>): JsonValue =>
    isObject(item) && merged.kind === 'map' ? (members(merged, item, keys) ?? item) : item;
  const members = (
    merged: Extract<MergeType, { kind: 'map' }>,
    value: JsonObject,
    kept: ReadonlySet<string>,
  ): JsonObject | undefined => {
    const entries = Object.entries(value).flatMap(([name, member]): (readonly [string, JsonValue])[] => {
      if (kept.has(name)) return [[name, member as JsonValue]];
      if (dropped()) return [];
      const rest = part(merged.typeOf(name) as MergeType, member as JsonValue);
      return rest === undefined ? [] : [[name, rest]];
    });
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  };

  const { apiVersion, kind, metadata, ...content } = object;
  const merged = mergeTypeOf(type) as Extract<MergeType, { kind: 'map' }>;
  const rest = members(merged, { metadata, ...content }, new Set()) ?? {};
  const { metadata: given, ...fields } = rest;
  return {
    apiVersion: apiVersion,
    kind: kind,
    metadata: { ...(given as JsonObject | undefined), name: 'x' },
    ...fields,
  };
}

function otherScalar(value: JsonValue): JsonValue {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  return value === 'a' ? 'b' : value === 'b' ? 'c' : value;
}
