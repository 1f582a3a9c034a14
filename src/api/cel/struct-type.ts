import type { ScalarName, SpecialName, StructType, TypeRef } from '../schema/model';
import { escapeName } from './field-names';
import * as types from './types';
import { DYN, listOf, mapOf, type ObjectType, type Type } from './types';

const SCALARS: Readonly<Record<ScalarName, Type>> = {
  string: types.STRING,
  bool: types.BOOL,
  int32: types.INT,
  int64: types.INT,
  double: types.DOUBLE,
  bytes: types.BYTES,
};

/** What is not here has several forms, or any. */
const SPECIALS: Readonly<Partial<Record<SpecialName, Type>>> = {
  Time: types.TIMESTAMP,
  MicroTime: types.TIMESTAMP,
  Duration: types.STRING,
};

const known = new WeakMap<StructType, ObjectType>();

/** The type that a policy's check of types gives values of the API. */
export function celTypeOf(type: TypeRef): Type {
  switch (type.kind) {
    case 'scalar':
      return SCALARS[type.scalar];
    case 'special':
      return SPECIALS[type.special] ?? DYN;
    case 'list':
      return listOf(celTypeOf(type.items));
    case 'map':
      return mapOf(types.STRING, celTypeOf(type.values));
    case 'struct':
      return type.preserveUnknownFields === true ? DYN : structOf(type);
    case 'any':
      return DYN;
  }
}

/** Types may be recursive: fields are made when they are first asked for. */
function structOf(struct: StructType): ObjectType {
  let type = known.get(struct);
  if (type === undefined) {
    let fields: ReadonlyMap<string, Type> | undefined;
    type = {
      kind: 'object',
      name: struct.name,
      get fields() {
        return (fields ??= fieldsOf(struct));
      },
    };
    known.set(struct, type);
  }
  return type;
}

function fieldsOf({ fields, isKind }: StructType): ReadonlyMap<string, Type> {
  const typed = new Map<string, Type>(
    isKind
      ? [
          ['apiVersion', types.STRING],
          ['kind', types.STRING],
        ]
      : [],
  );
  for (const { name, type } of fields.values()) {
    const escaped = escapeName(name);
    if (escaped !== undefined) typed.set(escaped, celTypeOf(type));
  }
  return typed;
}
