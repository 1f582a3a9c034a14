import type { JsonValue } from '../object';
import type { Field, ListTypeRef, MapType, SpecialName, StructType, TypeRef } from '../schema/model';
import { isObject, memberOf } from './members';
import { zeroValue } from './zero-object';

/**
 * A type as server-side apply sees it: what is merged and owned piece by piece, and what is one leaf. Compiled once per
 * schema type, field by field when first needed, because types may be recursive.
 */
export type MergeType = ScalarMergeType | MapMergeType | ListMergeType | AnyMergeType;

export interface ScalarMergeType {
  readonly kind: 'scalar';
  /** `untyped` is a scalar of any sort: quantities, and integers that may be texts. */
  readonly scalar: 'string' | 'numeric' | 'boolean' | 'untyped';
}

/** Structs and maps alike: named fields, and a type for all other keys. */
export interface MapMergeType {
  readonly kind: 'map';
  readonly atomic: boolean;
  isField(name: string): boolean;
  /** Whether an empty map or null in that place is something to own: a struct that is never absent says nothing by being there. */
  ownsEmpty(name: string): boolean;
  /** The type of a field or of another key's value; undefined: the schema does not know that field. */
  typeOf(name: string): MergeType | undefined;
}

export interface ListMergeType {
  readonly kind: 'list';
  readonly relation: 'atomic' | 'set' | 'map';
  readonly keys: readonly ListKey[];
  readonly items: MergeType;
}

export interface ListKey {
  readonly name: string;
  /** Stands in for the key where an item leaves it out (a container port's protocol, or no name). */
  readonly defaultValue: JsonValue | undefined;
}

/** Nothing is known: maps are merged key by key, lists are leaves; if atomic, the whole value is one leaf. */
export interface AnyMergeType {
  readonly kind: 'any';
  readonly atomic: boolean;
}

export const ANY: AnyMergeType = { kind: 'any', atomic: false };
const ANY_LEAF: AnyMergeType = { kind: 'any', atomic: true };
const STRING: MergeType = { kind: 'scalar', scalar: 'string' };
const NUMERIC: MergeType = { kind: 'scalar', scalar: 'numeric' };
const BOOLEAN: MergeType = { kind: 'scalar', scalar: 'boolean' };
const UNTYPED: MergeType = { kind: 'scalar', scalar: 'untyped' };

/** How an `any` merges when its value turns out to be a map. */
export const ANY_MAP: MapMergeType = {
  kind: 'map',
  atomic: false,
  isField: () => false,
  ownsEmpty: () => true,
  typeOf: () => ANY,
};

const compiled = new WeakMap<TypeRef, MergeType>();
const compiledAtomic = new WeakMap<TypeRef, MergeType>();

/** The merge type of a schema type. `mapType` is what the field that holds the value says of it, if anything. */
export function mergeTypeOf(type: TypeRef, mapType?: MapType): MergeType {
  const cache = mapType === 'atomic' ? compiledAtomic : compiled;
  let result = cache.get(type);
  if (result === undefined) {
    result = compile(type, mapType);
    cache.set(type, result);
  }
  return result;
}

function compile(type: TypeRef, mapType: MapType | undefined): MergeType {
  switch (type.kind) {
    case 'scalar':
      return { string: STRING, bytes: STRING, bool: BOOLEAN, int32: NUMERIC, int64: NUMERIC, double: NUMERIC }[
        type.scalar
      ];
    case 'special':
      return compileSpecial(type.special);
    case 'list':
      return compileList(type);
    case 'map': {
      const values = mergeTypeOf(type.values);
      return {
        kind: 'map',
        atomic: (mapType ?? type.mapType) === 'atomic',
        isField: () => false,
        ownsEmpty: () => true,
        typeOf: () => values,
      };
    }
    case 'struct':
      return compileStruct(type, mapType);
    case 'any':
      return ANY;
  }
}

function compileSpecial(special: SpecialName): MergeType {
  switch (special) {
    case 'Time':
    case 'MicroTime':
    case 'Duration':
      return STRING;
    case 'Quantity':
    case 'IntOrString':
      return UNTYPED;
    case 'RawExtension':
      return ANY_LEAF;
    case 'FieldsV1':
    case 'JSON':
    case 'JSONSchemaPropsOrBool':
    case 'JSONSchemaPropsOrArray':
    case 'JSONSchemaPropsOrStringArray':
      return ANY;
  }
}

/** The fields of kinds that stand in no message. */
const TYPE_META = ['apiVersion', 'kind'];

function compileStruct(type: StructType, mapType: MapType | undefined): MapMergeType {
  const unknown = type.preserveUnknownFields === true ? ANY : undefined;
  const types = new Map<string, MergeType>();
  if (type.isKind) for (const name of TYPE_META) types.set(name, STRING);
  const typeOf = (name: string): MergeType | undefined => {
    let result = types.get(name);
    if (result === undefined) {
      const field = type.fields.get(name);
      if (field === undefined) return unknown;
      result = compileField(field);
      types.set(name, result);
    }
    return result;
  };
  return {
    kind: 'map',
    atomic: (mapType ?? type.mapType) === 'atomic',
    ownsEmpty: (name) => type.fields.get(name)?.pointer ?? true,
    isField: (name) => type.fields.has(name) || types.has(name),
    typeOf,
  };
}

function compileField(field: Field): MergeType {
  return mergeTypeOf(field.type, field.mapType);
}

/** "If listType is missing, a patch-merge-strategy marker of merge is read as listType map" (merge-strategy markers). */
function compileList(type: ListTypeRef): ListMergeType {
  const items = mergeTypeOf(type.items);
  const merged = type.listType === undefined && type.patchStrategy === 'merge';
  const names = merged && type.patchMergeKey !== undefined ? [type.patchMergeKey] : (type.listMapKeys ?? []);
  const relation = merged ? (names.length > 0 ? 'map' : 'set') : (type.listType ?? 'atomic');
  const itemFields = type.items.kind === 'struct' ? type.items.fields : undefined;
  const keys = [...names].sort().map((name) => ({ name, defaultValue: keyDefault(itemFields?.get(name)) }));
  return { kind: 'list', relation, keys, items };
}

/** A field that is always written is never absent: an item without a name is called `""`, for validation to refuse. */
function keyDefault(field: Field | undefined): JsonValue | undefined {
  if (field === undefined) return undefined;
  return field.defaultValue ?? (field.required && !field.pointer ? zeroValue(field) : undefined);
}

/** Whether two items have the same name, without building it; false when in doubt. */
export function isSameItem(type: ListMergeType, left: JsonValue, right: JsonValue): boolean {
  if (type.relation === 'set') return left === right && typeof left !== 'object';
  if (!isObject(left) || !isObject(right)) return false;
  for (const { name, defaultValue } of type.keys) {
    const value = memberOf(left, name) ?? defaultValue;
    if (value === undefined || typeof value === 'object' || value !== (memberOf(right, name) ?? defaultValue))
      return false;
  }
  return true;
}

/** The type of a member. Throws a TypedError where the schema does not know the field. */
export function memberType(type: MapMergeType, name: string): MergeType {
  const found = type.typeOf(name);
  if (found === undefined) throw new TypedError([{ path: `.${name}`, message: 'field not declared in schema' }]);
  return found;
}

export interface TypedProblem {
  /** As messages print paths; empty for the object itself. */
  readonly path: string;
  readonly message: string;
}

/** What all problems of one object may be long together, in characters: each shows a path, which many may share. */
const MAX_MESSAGE_LENGTH = 1024 * 1024;

/** Collects problems until they are as many as may be told. */
export class TypedProblems {
  readonly list: TypedProblem[] = [];
  private length = 0;

  add(problem: TypedProblem): void {
    if (this.isFull) return;
    this.list.push(problem);
    this.length += problem.path.length + problem.message.length;
  }

  /** There is no use in looking for others. */
  get isFull(): boolean {
    return this.length > MAX_MESSAGE_LENGTH;
  }
}

/** The object does not have the shape that its type asks for. The message lists every problem, as kube-apiserver does. */
export class TypedError extends Error {
  constructor(problems: readonly TypedProblem[]) {
    const lines = problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
    super(lines.length === 1 ? lines[0] : ['errors:', ...lines.map((line) => `  ${line}`)].join('\n'));
    this.name = 'TypedError';
  }
}
