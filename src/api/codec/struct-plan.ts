import { setOwn, type MutableObject } from './set-own';
import { tooLarge, type StatusError } from '../errors/status-error';
import type { JsonValue } from '../object';
import { keysOf } from '../parts';
import type { Field, StructType, TypeRef } from '../schema/model';

/**
 * What the JSON and the Protobuf decoder share: how the fields of a struct, once decoded, become the canonical JSON
 * object. The order is the declaration's with kind and apiVersion first; zero values come and go as in Go's output
 * (reference, API types, "Zero values").
 */

/** Which values of a field that is no pointer count as zero. */
type ZeroKind = 'none' | 'scalar' | 'list' | 'map';

export interface FieldPlan {
  readonly field: Field;
  readonly index: number;
  readonly zero: ZeroKind;
}

export interface StructPlan {
  readonly type: StructType;
  /** In output order. */
  readonly fields: readonly FieldPlan[];
  readonly byName: ReadonlyMap<string, FieldPlan>;
}

function typeMetaField(name: string): Field {
  return {
    name,
    type: { kind: 'scalar', scalar: 'string' },
    pointer: false,
    always: false,
    required: false,
    retainKeys: false,
    description: '',
  };
}

const TYPE_META: readonly Field[] = [typeMetaField('kind'), typeMetaField('apiVersion')];

function zeroKind({ type, pointer }: Field): ZeroKind {
  if (pointer) return 'none';
  switch (type.kind) {
    case 'scalar':
    case 'list':
    case 'map':
      return type.kind;
    case 'special':
    case 'struct':
    case 'any':
      return 'none';
  }
}

const plans = new WeakMap<StructType, StructPlan>();

/** The plan of a struct, made once. */
export function planOf(type: StructType): StructPlan {
  const known = plans.get(type);
  if (known !== undefined) return known;
  const own = [...type.fields.values()];
  const ordered = type.isKind
    ? [...TYPE_META, ...own.filter(({ name }) => name !== 'kind' && name !== 'apiVersion')]
    : own;
  const fields = ordered.map((field, index) => ({ field, index, zero: zeroKind(field) }));
  const plan = { type, fields, byName: new Map(fields.map((one) => [one.field.name, one])) };
  plans.set(type, plan);
  return plan;
}

/** The JSON form of Go's zero value: what null means as an element of a list or a value of a map. */
export function zeroValue(type: TypeRef, applyDefaults: boolean): unknown {
  switch (type.kind) {
    case 'scalar':
      switch (type.scalar) {
        case 'string':
          return '';
        case 'bool':
          return false;
        case 'int32':
        case 'int64':
        case 'double':
          return 0;
        case 'bytes':
          return null;
      }
      break;
    case 'special':
      switch (type.special) {
        case 'Duration':
          return '0s';
        case 'Quantity':
          return '0';
        case 'IntOrString':
          return 0;
        case 'Time':
        case 'MicroTime':
        case 'RawExtension':
        case 'FieldsV1':
        case 'JSON':
        case 'JSONSchemaPropsOrBool':
        case 'JSONSchemaPropsOrArray':
        case 'JSONSchemaPropsOrStringArray':
          return null;
      }
      break;
    case 'struct':
      return finishObject(planOf(type), [], applyDefaults);
    case 'list':
    case 'map':
    case 'any':
      return null;
  }
}

function isZero(zero: ZeroKind, value: unknown): boolean {
  switch (zero) {
    case 'none':
      return false;
    case 'scalar':
      return value === '' || value === 0 || value === false;
    case 'list':
      return (value as readonly unknown[]).length === 0;
    case 'map':
      return keysOf(value as object).length === 0;
  }
}

/** A default is plain JSON in the schema; a list or map is copied so that it is not shared with the schema. */
function defaultOf(value: JsonValue): unknown {
  return typeof value === 'object' && value !== null ? structuredClone(value) : value;
}

/** What stands in the output for a field that was not sent; undefined for nothing. */
function absentValue({ field }: FieldPlan, applyDefaults: boolean): unknown {
  if (applyDefaults && field.defaultValue !== undefined) {
    const value = defaultOf(field.defaultValue);
    return field.type.kind === 'struct' && typeof value === 'object' && value !== null
      ? completeStruct(field.type, value as MutableObject, applyDefaults)
      : value;
  }
  if (field.pointer) return field.always ? null : undefined;
  if (field.type.kind === 'struct') return finishObject(planOf(field.type), [], applyDefaults);
  return field.always ? zeroValue(field.type, applyDefaults) : undefined;
}

/** A default for a struct names only some fields; the others get their own defaults and zeros. */
function completeStruct(type: StructType, value: MutableObject, applyDefaults: boolean): MutableObject {
  const plan = planOf(type);
  return finishObject(
    plan,
    plan.fields.map(({ field }) => value[field.name]),
    applyDefaults,
  );
}

/**
 * The canonical object from decoded values, one slot for each field of the plan; undefined and null say that the field
 * was not there.
 */
export function finishObject(plan: StructPlan, slots: readonly unknown[], applyDefaults: boolean): MutableObject {
  const object: MutableObject = {};
  for (const one of plan.fields) {
    let value = slots[one.index];
    if (value === undefined || value === null) {
      value = absentValue(one, applyDefaults);
      if (value === undefined) continue;
    } else if (one.zero !== 'none' && isZero(one.zero, value)) {
      if (applyDefaults && one.field.defaultValue !== undefined) value = defaultOf(one.field.defaultValue);
      else if (!one.field.always) continue;
    }
    setOwn(object, one.field.name, value);
  }
  return object;
}

/**
 * What the structs of one object may be in JSON before anything is set in them. `{}` is two bytes of a body (none at all
 * in Protobuf) and a hundred of the object, so that an object which no store takes is refused before it is made.
 */
export const MAX_EMPTY_SIZE = 8 * 1024 * 1024;

export function tooManyStructs(): StatusError {
  return tooLarge(`Request entity too large: with its defaults the object has more than ${MAX_EMPTY_SIZE} bytes`);
}

const emptySizes = new WeakMap<StructPlan, readonly [plain: number, defaulted: number]>();

/** The characters of JSON of a struct in which nothing is set. */
export function emptySize(plan: StructPlan, applyDefaults: boolean): number {
  let sizes = emptySizes.get(plan);
  if (sizes === undefined) {
    const sizeOf = (defaults: boolean): number => JSON.stringify(finishObject(plan, [], defaults)).length;
    emptySizes.set(plan, (sizes = [sizeOf(false), sizeOf(true)]));
  }
  return sizes[applyDefaults ? 1 : 0];
}
