import type { JsonObject, JsonValue } from '../../src/api/object';
import type { Field, ScalarName, SpecialName, StructType, TypeRef } from '../../src/api/schema/model';

/** Objects out of the schema alone, in which one part and all that it stands in are of a given size. */

/** How what grows looks: items that differ, items that are all alike, or long texts. */
export type Growth = 'distinct' | 'alike' | 'texts';

export interface Size {
  readonly growth: Growth;
  readonly count: number;
  /** The number of the first item: objects of two offsets have some of their items in common. */
  readonly from: number;
}

/** Where a struct stands in its kind: the fields that lead to it. */
export interface Place {
  readonly fields: readonly Field[];
  readonly struct: StructType;
}

const SCALARS: Readonly<Record<ScalarName, (index: number) => JsonValue>> = {
  string: (index) => `name-${index}`,
  bool: (index) => index % 2 === 0,
  int32: (index) => index + 1,
  int64: (index) => index + 1,
  double: (index) => index + 1,
  bytes: () => 'YQ==',
};
const SPECIALS: Readonly<Record<SpecialName, (index: number) => JsonValue>> = {
  Time: () => '2020-01-01T00:00:00Z',
  MicroTime: () => '2020-01-01T00:00:00.000001Z',
  Duration: () => '1h0m0s',
  Quantity: (index) => `${index + 1}Mi`,
  IntOrString: (index) => index + 1,
  RawExtension: (index) => ({ kind: 'A', value: index }),
  FieldsV1: (index) => ({ 'f:data': { [`f:name-${index}`]: {} } }),
  JSON: (index) => ({ value: index }),
  JSONSchemaPropsOrBool: () => true,
  JSONSchemaPropsOrArray: () => ({ type: 'string' }),
  JSONSchemaPropsOrStringArray: () => ['a'],
};
/** Where counting begins: all numbers are equally long, so that what is printed of them is. */
export const FIRST = 10_000;
/** Words of the API that let validation go on to what is interesting. */
const WORDS: Readonly<Record<string, string>> = {
  protocol: 'TCP',
  operation: 'Update',
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
};

/**
 * The structs of a kind that are not in `seen` yet, with the shortest way to each; those on the way to another are left out,
 * as they are grown with it. Structs of one name in several versions are taken for one.
 */
export function placesOf(kind: StructType, seen: Set<string>): readonly Place[] {
  const places: Place[] = [];
  let level: readonly Place[] = [{ fields: [], struct: kind }];
  while (level.length > 0) {
    const next: Place[] = [];
    for (const place of level) {
      const below = [...place.struct.fields.values()].flatMap((field): readonly Place[] => {
        const struct = structIn(field.type);
        const grows = struct !== undefined && hasMany(struct) && isFresh(struct, seen);
        return grows ? [{ fields: [...place.fields, field], struct }] : [];
      });
      if (below.length === 0) places.push(place);
      next.push(...below);
    }
    level = next;
  }
  return places;
}

/** Structs that hold nothing of which there can be many stand in the items of others. */
function hasMany({ fields }: StructType): boolean {
  return [...fields.values()].some(({ type }) => type.kind !== 'scalar' && type.kind !== 'special');
}

function isFresh({ name, groupVersion }: StructType, seen: Set<string>): boolean {
  const key = `${groupVersion?.group ?? ''}/${name.slice(name.lastIndexOf('.') + 1)}`;
  return !seen.has(key) && seen.add(key).size > 0;
}

function structIn(type: TypeRef): StructType | undefined {
  switch (type.kind) {
    case 'struct':
      return type;
    case 'list':
      return structIn(type.items);
    case 'map':
      return structIn(type.values);
    default:
      return undefined;
  }
}

/** An object of the kind in which the place, and each struct on the way to it, has `count` of all that there can be many of. */
export function grownObject(kind: StructType, place: Place, size: Size): JsonObject {
  return grownStruct(kind, place.fields, size);
}

function grownStruct(struct: StructType, way: readonly Field[], size: Size): JsonObject {
  const [next, ...rest] = way;
  const members: Record<string, JsonValue> = {};
  for (const field of struct.fields.values()) {
    const value = grownValue(field.type, size, field.name);
    if (value !== undefined) members[field.name] = value;
  }
  if (next !== undefined) {
    const inner = structIn(next.type) as StructType;
    members[next.name] = wrapped(next.type, grownStruct(inner, rest, size), members[next.name]);
  }
  return members;
}

/** The struct as a value of the field, before the other items where there are some. */
function wrapped(type: TypeRef, value: JsonValue, others: JsonValue | undefined): JsonValue {
  switch (type.kind) {
    case 'list':
      return [wrapped(type.items, value, undefined), ...((others ?? []) as readonly JsonValue[])];
    case 'map':
      return { ...(others as JsonObject | undefined), first: wrapped(type.values, value, undefined) };
    default:
      return value;
  }
}

function grownValue(type: TypeRef, size: Size, name: string): JsonValue | undefined {
  const { growth, count, from } = size;
  const indexes = Array.from({ length: growth === 'texts' ? 1 : count }, (_, index) => from + index);
  switch (type.kind) {
    case 'list':
      return indexes.map((index) => smallValue(type.items, growth === 'distinct' ? index : FIRST, name));
    case 'map':
      return Object.fromEntries(indexes.map((index) => [`key-${index}`, smallValue(type.values, index, name)]));
    case 'scalar':
      return growth === 'texts' && type.scalar === 'string' ? 'a'.repeat(count * 8) : smallValue(type, FIRST, name);
    case 'special':
      return smallValue(type, FIRST, name);
    default:
      return undefined;
  }
}

function isScalar({ type }: Field): boolean {
  return type.kind === 'scalar' || type.kind === 'special';
}

/** `nesting`: how many structs may still stand in one another. */
function smallValue(type: TypeRef, index: number, name: string, nesting = 2): JsonValue {
  switch (type.kind) {
    case 'scalar':
      return type.scalar === 'string' && WORDS[name] !== undefined ? WORDS[name] : SCALARS[type.scalar](index);
    case 'special':
      return SPECIALS[type.special](index);
    case 'struct': {
      // Of what is no scalar one at a time: mostly only one may be there, the source of a volume for example.
      const parts = [...type.fields.values()].filter((field) => !isScalar(field));
      const part = nesting === 0 ? undefined : parts[index % parts.length];
      return Object.fromEntries(
        [...type.fields.values()]
          .filter((field) => isScalar(field) || field === part)
          .map((field) => [field.name, smallValue(field.type, index, field.name, nesting - 1)]),
      );
    }
    case 'list':
      return [smallValue(type.items, index, name, nesting)];
    case 'map':
      return { key: smallValue(type.values, index, name, nesting) };
    case 'any':
      return { value: index };
  }
}
