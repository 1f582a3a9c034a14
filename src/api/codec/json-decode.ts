import { rememberEmptyMap } from './empty-maps';
import { stringifyExact } from './exact-json';
import { StatusError } from '../errors/status-error';
import type { KubeObject } from '../object';
import { QuantityError, canonicalQuantity } from '../quantity/quantity';
import type { ListTypeRef, MapTypeRef, ScalarName, SpecialType, StructType, TypeRef } from '../schema/model';
import { DurationError, formatDuration, parseDuration } from '../time/duration';
import { TimeError, canonicalMicroTime, canonicalTime } from '../time/rfc3339';
import { Base64Error, canonicalBase64 } from './base64';
import { sortedKeys } from './key-order';
import { reportedPaths } from './reported-paths';
import {
  emptySize,
  finishObject,
  MAX_EMPTY_SIZE,
  planOf,
  tooManyStructs,
  zeroValue,
  type StructPlan,
} from './struct-plan';
import { setOwn, type MutableObject } from './set-own';

/**
 * From parsed JSON to the canonical object of a type, as Go's server emits it after decoding into its structs: unknown
 * fields gone, types checked, times and quantities in their canonical spelling, zero values in or out as declared.
 * Each struct is compiled once into a decoder, so that a request costs nothing for fields it does not use.
 */

export interface DecodeOptions {
  /** Fills fields that are absent, or zero without being pointers, with the schema's constant defaults. */
  readonly applyDefaults: boolean;
  /** Reports the paths of fields that the type does not have. */
  readonly collectUnknown: boolean;
  /** For error messages, where the struct's name does not say it (custom resources). */
  readonly kind?: string;
  readonly version?: string;
}

export interface DecodeResult {
  readonly object: KubeObject;
  /** `spec.containers[0].foo`, in document order, a hundred at most; empty unless asked for. */
  readonly unknownFields: readonly string[];
}

/** Kubernetes reports no more problems than this of one document. */
const MAX_UNKNOWN = 100;

export interface Context {
  /** Set once a map was empty, so that structs look for theirs. */
  emptied?: boolean;
  readonly applyDefaults: boolean;
  /** Paths below the value in hand: `.foo`, `[0].foo`. Each level adds its own part in front. */
  readonly unknown: string[] | undefined;
  /** What all structs so far are in JSON, had nothing been set in them. */
  size: number;
}

export type Decoder = (value: unknown, context: Context) => unknown;

/** What stood in the way of decoding, for those who tell of it in other words than {@link DecodeError} does. */
export type DecodeProblem =
  /** The Go type that was expected where this value stood. */
  | { readonly kind: 'mismatch'; readonly value: unknown; readonly expected: string }
  /** A text that is no quantity, time and so on, in the words of its parser. */
  | { readonly kind: 'spelling'; readonly message: string };

/** The 400 for a body that does not fit its type. */
export class DecodeError extends StatusError {
  constructor(
    subject: string,
    /** What is wrong, where: the message without the words that tell of kind and version. */
    readonly detail: string,
    readonly problem: DecodeProblem,
  ) {
    super(400, 'BadRequest', `${subject}: ${detail}`);
  }
}

/** A value of the wrong type. The path is put together on the way out, from its end. */
export class DecodeFailure extends Error {
  /** `.name` for fields, `[0]` for elements, `[key]` for values of maps; the innermost first. */
  readonly path: string[] = [];
  /** The innermost struct with the offending field. */
  struct: string | undefined;

  constructor(readonly problem: DecodeProblem) {
    super(problem.kind);
  }

  describe(rootType: string): string {
    const parts = this.path.toReversed();
    const path = parts.join('').replace(/^\./, '');
    const { problem } = this;
    if (problem.kind === 'spelling') return path === '' ? problem.message : `${path}: ${problem.message}`;
    const { value, expected } = problem;
    const isWrongNumber = isNumber(value) && /^(?:int|float)/.test(expected);
    const found = isWrongNumber ? `number ${value}` : jsonTypeOf(value);
    if (this.struct === undefined) return `json: cannot unmarshal ${found} into Go value of type ${rootType}`;
    const fields = parts
      .filter((part) => part.startsWith('.'))
      .join('')
      .slice(1);
    return `json: cannot unmarshal ${found} into Go struct field ${this.struct}.${fields} of type ${expected}`;
  }
}

export function mismatch(value: unknown, expected: string): DecodeFailure {
  return new DecodeFailure({ kind: 'mismatch', value, expected });
}

function misspelled(message: string): DecodeFailure {
  return new DecodeFailure({ kind: 'spelling', message });
}

/** Adds where it happened to a failure that passes by; anything else passes unchanged. */
export function located(error: unknown, part: string, struct?: string): unknown {
  if (!(error instanceof DecodeFailure)) return error;
  error.path.push(part);
  error.struct ??= struct;
  return error;
}

/** JSON's type of a value, in the words of Go's decoders. */
export function jsonTypeOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (isNumber(value)) return 'number';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function isByte(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 256;
}

function isInt32(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function shortName(type: StructType): string {
  return type.name.slice(type.name.lastIndexOf('.') + 1);
}

/** `v1.Deployment`, as Go prints the type. */
export function goStructName(type: StructType): string {
  return type.name.split('.').slice(-2).join('.');
}

const GO_SCALARS: Readonly<Record<ScalarName, string>> = {
  string: 'string',
  bool: 'bool',
  int32: 'int32',
  int64: 'int64',
  double: 'float64',
  bytes: '[]uint8',
};

export function goTypeName(type: TypeRef): string {
  switch (type.kind) {
    case 'scalar':
      return GO_SCALARS[type.scalar];
    case 'special':
      return type.special;
    case 'list':
      return `[]${goTypeName(type.items)}`;
    case 'map':
      return `map[string]${goTypeName(type.values)}`;
    case 'struct':
      return goStructName(type);
    case 'any':
      return 'interface {}';
  }
}

const SCALARS: Readonly<Record<ScalarName, Decoder>> = {
  string: (value) => {
    if (typeof value === 'string') return value;
    throw mismatch(value, 'string');
  },
  bool: (value) => {
    if (typeof value === 'boolean') return value;
    throw mismatch(value, 'bool');
  },
  int32: (value) => {
    if (isInt32(value)) return value === 0 ? 0 : value;
    throw mismatch(value, 'int32');
  },
  int64: (value) => {
    if (typeof value === 'number' && Number.isSafeInteger(value)) return value === 0 ? 0 : value;
    if (typeof value === 'bigint') return value;
    throw mismatch(value, 'int64');
  },
  double: (value) => {
    if (typeof value === 'number') return value === 0 ? 0 : value;
    if (typeof value === 'bigint') return Number(value);
    throw mismatch(value, 'float64');
  },
  bytes: (value) => {
    if (typeof value === 'string') return spelled(canonicalBase64, value);
    if (Array.isArray(value) && value.every(isByte)) return Buffer.from(value).toString('base64');
    throw mismatch(value, '[]uint8');
  },
};

/** Runs a parser of texts; what it says about the text becomes the failure. */
function spelled<T>(parse: (text: string) => T, text: string): T {
  try {
    return parse(text);
  } catch (error) {
    if (
      error instanceof QuantityError ||
      error instanceof TimeError ||
      error instanceof DurationError ||
      error instanceof Base64Error
    ) {
      throw misspelled(error.message);
    }
    throw error;
  }
}

function textDecoder(parse: (text: string) => unknown): Decoder {
  return (value) => {
    if (typeof value === 'string') return spelled(parse, value);
    throw misspelled(`json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type string`);
  };
}

const decodeRaw: Decoder = (value) => value;

const decodeIntOrString: Decoder = (value) => {
  if (typeof value === 'string') return value;
  if (isInt32(value)) return value === 0 ? 0 : value;
  const found = isNumber(value) ? `number ${value}` : jsonTypeOf(value);
  throw misspelled(`json: cannot unmarshal ${found} into Go value of type int32`);
};

const decodeQuantity: Decoder = (value) =>
  // A number is taken for its digits.
  spelled(canonicalQuantity, typeof value === 'string' ? value.trim() : stringifyExact(value));

function specialDecoder({ special, schema }: SpecialType): Decoder {
  switch (special) {
    case 'Time':
      return textDecoder(canonicalTime);
    case 'MicroTime':
      return textDecoder(canonicalMicroTime);
    case 'Duration':
      return textDecoder((text) => formatDuration(parseDuration(text)));
    case 'Quantity':
      return decodeQuantity;
    case 'IntOrString':
      return decodeIntOrString;
    case 'RawExtension':
    case 'FieldsV1':
    case 'JSON':
      return decodeRaw;
    case 'JSONSchemaPropsOrBool':
      return (value, context) => {
        if (typeof value === 'boolean') return value;
        if (isObject(value) && schema !== undefined) return decoderOf(schema)(value, context);
        throw misspelled('boolean or JSON schema expected');
      };
    case 'JSONSchemaPropsOrArray':
      return schemaOrList(schema, 'JSON schema or a list of JSON schemas expected', schema);
    case 'JSONSchemaPropsOrStringArray':
      return schemaOrList(schema, 'JSON schema or a list of strings expected', { kind: 'scalar', scalar: 'string' });
  }
}

function schemaOrList(schema: StructType | undefined, problem: string, items: TypeRef | undefined): Decoder {
  const list = items === undefined ? undefined : lazyDecoder(() => listDecoder({ kind: 'list', items }));
  return (value, context) => {
    if (isObject(value) && schema !== undefined) return decoderOf(schema)(value, context);
    if (Array.isArray(value) && list !== undefined) return list(value, context);
    throw misspelled(problem);
  };
}

/** Types may contain themselves: what is inside is compiled when it is first met. */
function lazyDecoder(make: () => Decoder): Decoder {
  let decoder: Decoder | undefined;
  return (value, context) => (decoder ??= make())(value, context);
}

/** Puts `part` before the paths that were reported since the count was `before`. */
export function locateUnknown(unknown: string[] | undefined, before: number, part: string): void {
  if (unknown === undefined) return;
  for (let index = before; index < unknown.length; index += 1) unknown[index] = part + (unknown[index] ?? '');
}

/** What stands for null in a list or map. */
export function emptyValue(type: TypeRef, context: Context): unknown {
  if (type.kind === 'struct') {
    context.size += emptySize(planOf(type), context.applyDefaults);
    if (context.size > MAX_EMPTY_SIZE) throw tooManyStructs();
  }
  // Once stored, no bytes are an empty text.
  if (type.kind === 'scalar' && type.scalar === 'bytes') return '';
  return zeroValue(type, context.applyDefaults);
}

function listDecoder(type: ListTypeRef): Decoder {
  const decodeItem = typeDecoder(type.items);
  const name = goTypeName(type);
  return (value, context) => {
    if (!Array.isArray(value)) throw mismatch(value, name);
    const items = new Array<unknown>(value.length);
    let index = 0;
    try {
      for (; index < value.length; index += 1) {
        const item: unknown = value[index];
        const before = context.unknown?.length ?? 0;
        const decoded = item === null ? null : decodeItem(item, context);
        items[index] = decoded ?? emptyValue(type.items, context);
        if (context.unknown !== undefined && context.unknown.length > before) {
          locateUnknown(context.unknown, before, `[${index}]`);
        }
      }
    } catch (error) {
      throw located(error, `[${index}]`);
    }
    return items;
  };
}

function isEmptyMap(value: unknown): value is object {
  return isObject(value) && Object.keys(value).length === 0;
}

function mapDecoder(type: MapTypeRef): Decoder {
  const decodeValue = typeDecoder(type.values);
  const name = goTypeName(type);
  return (value, context) => {
    if (!isObject(value)) throw mismatch(value, name);
    const result: MutableObject = {};
    let current = '';
    try {
      for (const key of sortedKeys(value)) {
        current = key;
        const entry = value[key];
        const before = context.unknown?.length ?? 0;
        const decoded = entry === null ? null : decodeValue(entry, context);
        setOwn(result, key, decoded ?? emptyValue(type.values, context));
        if (context.unknown !== undefined && context.unknown.length > before) {
          locateUnknown(context.unknown, before, `.${key}`);
        }
      }
    } catch (error) {
      throw located(error, `[${current}]`);
    }
    if (current === '' && isEmptyMap(result)) context.emptied = true;
    return result;
  };
}

export function typeDecoder(type: TypeRef): Decoder {
  switch (type.kind) {
    case 'scalar':
      return SCALARS[type.scalar];
    case 'special':
      return specialDecoder(type);
    case 'list':
      return listDecoder(type);
    case 'map':
      return mapDecoder(type);
    case 'struct':
      return lazyDecoder(() => decoderOf(type));
    case 'any':
      return decodeRaw;
  }
}

function compile(type: StructType): Decoder {
  const plan = planOf(type);
  const decoders = plan.fields.map(({ field }) => typeDecoder(field.type));
  const struct = shortName(type);
  const name = goStructName(type);
  return (value, context) => {
    if (!isObject(value)) throw mismatch(value, name);
    const slots = new Array<unknown>(decoders.length);
    let others: string[] | undefined;
    let current = '';
    try {
      for (const key of Object.keys(value)) {
        const field = plan.byName.get(key);
        if (field === undefined) {
          (others ??= []).push(key);
          if (type.preserveUnknownFields !== true) report(context, key);
          continue;
        }
        const raw = value[key];
        if (raw === null || raw === undefined) continue;
        current = key;
        const before = context.unknown?.length ?? 0;
        slots[field.index] = decoders[field.index]?.(raw, context);
        if (context.unknown !== undefined && context.unknown.length > before) {
          locateUnknown(context.unknown, before, `.${key}`);
        }
      }
    } catch (error) {
      throw located(error, `.${current}`, struct);
    }
    return finishStruct(plan, slots, others, value, context);
  };
}

function rememberEmptyMaps(plan: StructPlan, slots: readonly unknown[], object: MutableObject): void {
  for (const { field, index } of plan.fields) {
    if (field.type.kind === 'map' && isEmptyMap(slots[index])) rememberEmptyMap(object, field.name);
  }
}

/** `others`: what was sent and is no field. */
export function finishStruct(
  plan: StructPlan,
  slots: readonly unknown[],
  others: readonly string[] | undefined,
  value: Readonly<Record<string, unknown>>,
  context: Context,
): MutableObject {
  const object = finishObject(plan, slots, context.applyDefaults);
  if (context.emptied === true) rememberEmptyMaps(plan, slots, object);
  context.size += emptySize(plan, context.applyDefaults);
  if (context.size > MAX_EMPTY_SIZE) throw tooManyStructs();
  if (plan.type.preserveUnknownFields === true && others !== undefined) {
    for (const key of others) setOwn(object, key, value[key]);
  }
  return object;
}

export function report({ unknown }: Context, key: string): void {
  if (unknown !== undefined && unknown.length < MAX_UNKNOWN) unknown.push(`.${key}`);
}

const decoders = new WeakMap<StructType, Decoder>();

export function decoderOf(type: StructType): Decoder {
  let decoder = decoders.get(type);
  if (decoder === undefined) {
    decoder = compile(type);
    decoders.set(type, decoder);
  }
  return decoder;
}

/**
 * Decodes parsed JSON (or YAML) into the canonical object of the type; null counts as an empty object. The input is
 * neither changed nor copied where its parts are kept as they are (raw JSON, labels of unknown structs). Throws a
 * {@link DecodeError} that names the field and the type it should have.
 */
export function decodeObject(type: StructType, value: unknown, options: DecodeOptions): DecodeResult {
  if (type.decode !== undefined) return type.decode(value ?? {}, options);
  const context = decodeContext(options);
  try {
    return decodeResult(decoderOf(type)(value ?? {}, context), context);
  } catch (error) {
    throw decodeError(error, type, options);
  }
}

export function decodeContext({ applyDefaults, collectUnknown }: DecodeOptions): Context {
  return { applyDefaults, unknown: collectUnknown ? [] : undefined, size: 0 };
}

export function decodeResult(object: unknown, { unknown }: Context): DecodeResult {
  const paths = unknown === undefined ? [] : reportedPaths(unknown).map((path) => path.slice(1));
  return { object: object as KubeObject, unknownFields: paths };
}

/** What stood in the way, as the answer tells it. */
export function decodeError(error: unknown, type: StructType, options: DecodeOptions): unknown {
  if (!(error instanceof DecodeFailure)) return error;
  const kind = options.kind ?? shortName(type);
  const version = options.version ?? type.name.split('.').at(-2) ?? '';
  const subject = `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}`;
  return new DecodeError(subject, error.describe(goStructName(type)), error.problem);
}
