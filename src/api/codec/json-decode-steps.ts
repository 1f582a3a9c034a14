import { isLarge, keysOf, rememberKeys, type Steps } from '../parts';
import type { ListTypeRef, MapTypeRef, StructType, TypeRef } from '../schema/model';
import {
  decodeContext,
  decodeError,
  decodeResult,
  emptyValue,
  finishStruct,
  goStructName,
  goTypeName,
  isObject,
  locateUnknown,
  located,
  mismatch,
  report,
  shortName,
  typeDecoder,
  type Context,
  type DecodeOptions,
  type Decoder,
  type DecodeResult,
} from './json-decode';
import { sortedKeys } from '../steps/generated/codec/key-order';
import { planOf } from './struct-plan';
import { setOwn, type MutableObject } from './set-own';

/**
 * Decoding of large values, an element at a time: lists, maps and structs that are large are opened here, and what is small is
 * decoded as a whole by the decoder of its type.
 */

/** `decodeObject` with a step for each part of what is large. */
export function* decodeObjectSteps(type: StructType, value: unknown, options: DecodeOptions): Steps<DecodeResult> {
  if (type.decode?.inSteps !== undefined) return yield* type.decode.inSteps(value ?? {}, options);
  if (type.decode !== undefined) return type.decode(value ?? {}, options);
  const context = decodeContext(options);
  try {
    return decodeResult(yield* decode(type, value ?? {}, context), context);
  } catch (error) {
    throw decodeError(error, type, options);
  }
}

const decoders = new WeakMap<TypeRef, Decoder>();

function decodeWhole(type: TypeRef, value: unknown, context: Context): unknown {
  let decoder = decoders.get(type);
  if (decoder === undefined) decoders.set(type, (decoder = typeDecoder(type)));
  return decoder(value, context);
}

function* decode(type: TypeRef, value: unknown, context: Context): Steps<unknown> {
  if (isLarge(value)) {
    switch (type.kind) {
      case 'struct':
        return yield* decodeStruct(type, value, context);
      case 'list':
        return yield* decodeList(type, value, context);
      case 'map':
        return yield* decodeMap(type, value, context);
      case 'scalar':
      case 'special':
      case 'any':
        break;
    }
  }
  return decodeWhole(type, value, context);
}

/** A member of a list or a map; `part` is how paths name it. */
function* decodeMember(type: TypeRef, value: unknown, context: Context, part: () => string): Steps<unknown> {
  const before = context.unknown?.length ?? 0;
  let decoded: unknown = null;
  if (isLarge(value)) decoded = yield* decode(type, value, context);
  else if (value !== null) decoded = decodeWhole(type, value, context);
  if (context.unknown !== undefined && context.unknown.length > before) locateUnknown(context.unknown, before, part());
  return decoded;
}

function* decodeList(type: ListTypeRef, value: unknown, context: Context): Steps<unknown[]> {
  if (!Array.isArray(value)) throw mismatch(value, goTypeName(type));
  const items = new Array<unknown>(value.length);
  for (let index = 0; index < value.length; index += 1) {
    const part = (): string => `[${index}]`;
    try {
      const decoded = yield* decodeMember(type.items, value[index], context, part);
      items[index] = decoded ?? emptyValue(type.items, context);
    } catch (error) {
      throw located(error, part());
    }
    yield;
  }
  return items;
}

function* decodeMap(type: MapTypeRef, value: unknown, context: Context): Steps<MutableObject> {
  if (!isObject(value)) throw mismatch(value, goTypeName(type));
  const result: MutableObject = {};
  keysOf(value);
  yield;
  const keys = yield* sortedKeys(value);
  for (const key of keys) {
    try {
      const decoded = yield* decodeMember(type.values, value[key], context, () => `.${key}`);
      setOwn(result, key, decoded ?? emptyValue(type.values, context));
    } catch (error) {
      throw located(error, `[${key}]`);
    }
    yield;
  }
  rememberKeys(result, keys);
  return result;
}

function* decodeStruct(type: StructType, value: unknown, context: Context): Steps<MutableObject> {
  if (!isObject(value)) throw mismatch(value, goStructName(type));
  const plan = planOf(type);
  const slots = new Array<unknown>(plan.fields.length);
  let others: string[] | undefined;
  for (const key of keysOf(value)) {
    const known = plan.byName.get(key);
    if (known === undefined) {
      (others ??= []).push(key);
      if (type.preserveUnknownFields !== true) report(context, key);
      continue;
    }
    const raw = value[key];
    if (raw === null || raw === undefined) continue;
    try {
      slots[known.index] = yield* decodeMember(known.field.type, raw, context, () => `.${key}`);
    } catch (error) {
      throw located(error, `.${key}`, shortName(type));
    }
    yield;
  }
  return finishStruct(plan, slots, others, value, context);
}
