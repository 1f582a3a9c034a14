import { Uint } from '../../src/api/cel/ast';
import { insert } from '../../src/api/cel/map-keys';
import * as types from '../../src/api/cel/types';
import { Entries, Items, TypeValue, type Value } from '../../src/api/cel/values';
import { durationOf, timestampOf } from '../../src/api/cel/functions/time';

/** A value as the specification's tests write it (`cel.expr.Value` in JSON). */
export interface SpecValue {
  readonly nullValue?: null;
  readonly boolValue?: boolean;
  readonly int64Value?: string;
  readonly uint64Value?: string;
  readonly doubleValue?: number | string;
  readonly stringValue?: string;
  readonly bytesValue?: string;
  readonly listValue?: { readonly values?: readonly SpecValue[] };
  readonly mapValue?: { readonly entries?: readonly { readonly key: SpecValue; readonly value: SpecValue }[] };
  readonly typeValue?: string;
  readonly objectValue?: { readonly '@type': string; readonly value?: string };
}

export interface SpecType {
  readonly primitive?: string;
  readonly wellKnown?: string;
  readonly listType?: { readonly elemType: SpecType };
  readonly mapType?: { readonly keyType: SpecType; readonly valueType: SpecType };
  readonly null?: unknown;
  readonly type?: SpecType;
  readonly abstractType?: { readonly name: string; readonly parameterTypes?: readonly SpecType[] };
}

export function valueOfSpec(value: SpecValue): Value {
  if (value.boolValue !== undefined) return value.boolValue;
  if (value.int64Value !== undefined) return BigInt(value.int64Value);
  if (value.uint64Value !== undefined) return new Uint(BigInt(value.uint64Value));
  if (value.doubleValue !== undefined) return Number(value.doubleValue);
  if (value.stringValue !== undefined) return value.stringValue;
  if (value.bytesValue !== undefined) return Buffer.from(value.bytesValue, 'base64');
  if (value.typeValue !== undefined) return new TypeValue(value.typeValue);
  if (value.listValue !== undefined) return new Items((value.listValue.values ?? []).map(valueOfSpec));
  if (value.mapValue !== undefined) {
    const map = new Map<string, readonly [Value, Value]>();
    for (const entry of value.mapValue.entries ?? []) insert(map, valueOfSpec(entry.key), valueOfSpec(entry.value));
    return new Entries(map);
  }
  if (value.objectValue?.['@type'].endsWith('.Timestamp') === true) return timestampOf(value.objectValue.value ?? '');
  if (value.objectValue?.['@type'].endsWith('.Duration') === true) return durationOf(value.objectValue.value ?? '');
  if (value.objectValue !== undefined) throw new Error(`no value of ${value.objectValue['@type']}`);
  return null;
}

const PRIMITIVES: Readonly<Record<string, types.Type>> = {
  BOOL: types.BOOL,
  INT64: types.INT,
  UINT64: types.UINT,
  DOUBLE: types.DOUBLE,
  STRING: types.STRING,
  BYTES: types.BYTES,
  TIMESTAMP: types.TIMESTAMP,
  DURATION: types.DURATION,
};

export function typeOfSpec(type: SpecType): types.Type {
  if ('null' in type) return types.NULL;
  if (type.listType !== undefined) return types.listOf(typeOfSpec(type.listType.elemType));
  if (type.mapType !== undefined)
    return types.mapOf(typeOfSpec(type.mapType.keyType), typeOfSpec(type.mapType.valueType));
  if (type.abstractType?.name === 'optional_type') {
    return types.optionalOf(typeOfSpec(type.abstractType.parameterTypes?.[0] ?? {}));
  }
  return PRIMITIVES[type.primitive ?? type.wellKnown ?? ''] ?? types.DYN;
}
