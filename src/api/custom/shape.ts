import { stringifyExact } from '../codec/exact-json';
import { setOwn } from '../codec/set-own';
import { extend } from '../extend';
import type { JsonObject, JsonValue } from '../object';
import { isLarge, keysOf, rememberKeys, type Steps } from '../parts';
import { tooLarge } from '../errors/status-error';
import { isJsonList, isJsonObject, valueSchema, type JsonSchema } from './json-schema';

/**
 * What a structural schema makes of a value before it is validated: fields that it does not name go (pruning), nulls go
 * where they are not allowed, defaults come in (custom resources, "Field pruning" and "Defaulting"). Compiled once per
 * schema. The value itself is never changed, and is the result when there is nothing to do.
 */
export interface Shaper {
  (value: JsonValue, context: ShapeContext): JsonValue;
  /** The same for a large value, a member at a time. */
  readonly inSteps: StepsShaper;
}

type PlainShaper = (value: JsonValue, context: ShapeContext) => JsonValue;
type StepsShaper = (value: JsonValue, context: ShapeContext) => Steps<JsonValue>;

function shaper(plain: PlainShaper, inSteps: StepsShaper): Shaper {
  return Object.assign(plain, { inSteps });
}

/** Compiled when a value first gets there: of a large schema, what is compiled is what values have. */
function lazyShaper(compile: () => Shaper): Shaper {
  let compiled: Shaper | undefined;
  const known = (): Shaper => (compiled ??= compile());
  return shaper(
    (value, context) => known()(value, context),
    (value, context) => known().inSteps(value, context),
  );
}

export interface ShapeContext {
  /** Collects the paths of fields that are dropped because they are unknown: `spec.foo[0].bar`. */
  readonly unknown: string[] | undefined;
  /** Where the value in hand stands. */
  readonly path: (string | number)[];
  /** How much defaults may still add. */
  readonly room: DefaultsRoom;
  /** Metadata of embedded objects; absent: left as it is. */
  readonly metadata?: (value: JsonValue, path: string) => JsonValue;
  /** The same for large metadata, a part at a time; absent: left as it is. */
  readonly metadataInSteps?: (value: JsonValue, path: string) => Steps<JsonValue>;
}

/** What the defaults of one object may add, in characters of JSON: more than etcd takes of an object unless it is told to. */
const MAX_DEFAULTS_SIZE = 1536 * 1024;
/** Of a member, beside its name and its value. */
const MEMBER_SIZE = '"":,'.length;

/**
 * The bound of what defaults may add to one object: a list of twenty thousand items with a hundred defaults each is no
 * longer than its braces before. Defaults themselves are shared and not copied, but every place for one takes memory.
 */
export class DefaultsRoom {
  private left = MAX_DEFAULTS_SIZE;

  /** `refuses`: what does not fit any more is refused with a 413; otherwise it is left out. */
  constructor(private readonly refuses: boolean) {}

  /** Nothing fits any more. */
  get isUsedUp(): boolean {
    return this.left < 0;
  }

  /** Whether there is still room. */
  take(size: number): boolean {
    this.left -= size;
    if (this.left >= 0) return true;
    if (this.refuses) {
      throw tooLarge(`Request entity too large: defaults add more than ${MAX_DEFAULTS_SIZE} bytes to the object`);
    }
    return false;
  }
}

/** Reports are for humans: more than this of one document do not help. */
const MAX_UNKNOWN = 100;

const TYPE_META: ReadonlySet<string> = new Set(['apiVersion', 'kind']);

/**
 * The shaper of a kind's schema, compiled when it is first used. Its root is an object of the API: kind, apiVersion and
 * metadata stay as they are. Undefined when every value would stay as it is.
 */
export function compileShape(schema: JsonSchema): Shaper | undefined {
  if (keepsEverything(schema)) return undefined;
  return lazyShaper(() => compileObjectOrList(schema, false, 'root'));
}

/** `kubectl explain`-like text of a path: `spec.list[0].name`. */
export function printPath(path: readonly (string | number)[]): string {
  let text = '';
  for (const part of path) text += typeof part === 'number' ? `[${part}]` : text === '' ? part : `.${part}`;
  return text;
}

/** An open schema without anything inside. */
function keepsEverything(schema: JsonSchema): boolean {
  return (
    schema['x-kubernetes-preserve-unknown-fields'] === true &&
    schema.properties === undefined &&
    schema.additionalProperties === undefined &&
    schema.items === undefined
  );
}

type Embedding = 'root' | 'embedded' | 'plain';

interface Member {
  readonly shape: Shaper;
  readonly nullable: boolean;
  /** Complete with the defaults of what is inside. */
  readonly defaultValue: JsonValue | undefined;
  /** Of the default, in characters of JSON. */
  readonly size: number;
}

/** `open`: the list that holds the value is one whose unknown fields are kept. */
function compileObjectOrList(
  schema: JsonSchema | undefined,
  open: boolean,
  embedding: Embedding = schema?.['x-kubernetes-embedded-resource'] === true ? 'embedded' : 'plain',
): Shaper {
  if (schema === undefined) return DROP_FIELDS;
  const keepUnknown = open || schema['x-kubernetes-preserve-unknown-fields'] === true;
  const shapeMap = compileMap(schema, keepUnknown, embedding);
  const item = schema.items === undefined ? undefined : memberOf(schema.items, keepUnknown);
  return shaper(
    (value, context) => {
      if (isJsonObject(value)) return shapeMap.plain(value, context);
      if (!isJsonList(value)) return value;
      if (item === undefined) return keepUnknown ? value : DROP_FIELDS(value, context);
      return shapeList(value, context, item);
    },
    function* (value, context) {
      if (isJsonObject(value)) return yield* shapeMap.inSteps(value, context);
      if (!isJsonList(value)) return value;
      if (item === undefined) return keepUnknown ? value : yield* DROP_FIELDS.inSteps(value, context);
      return yield* shapeListInSteps(value, context, item);
    },
  );
}

function memberOf(schema: JsonSchema, open = false): Member {
  const shape = lazyShaper(() => compileObjectOrList(schema, open));
  const { nullable = false, default: own } = schema;
  const defaultValue =
    own === undefined ? undefined : shape(own, { unknown: undefined, path: [], room: new DefaultsRoom(false) });
  return { shape, nullable, defaultValue, size: defaultValue === undefined ? 0 : stringifyExact(defaultValue).length };
}

function compileMap(schema: JsonSchema, keepUnknown: boolean, embedding: Embedding): MapShaper {
  const members = new Map<string, Member>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const isTypeMeta = TYPE_META.has(name) || name === 'metadata';
    if (embedding === 'plain' || !isTypeMeta) members.set(name, memberOf(property));
  }
  const withDefault = [...members].filter(([, { defaultValue }]) => defaultValue !== undefined);
  const values = valueSchema(schema);
  const hasValues = schema.additionalProperties !== undefined && schema.additionalProperties !== false;
  const value = hasValues ? (values === undefined ? ANY_MEMBER : memberOf(values)) : undefined;

  const shapeMember = (name: string, before: JsonValue, context: ShapeContext): JsonValue | undefined => {
    if (embedding !== 'plain') {
      if (TYPE_META.has(name)) return before;
      if (name === 'metadata') return embedding === 'root' ? before : shapeMetadata(before, context);
    }
    const member = members.get(name);
    if (member !== undefined) {
      if (before === null && !member.nullable) return undefined;
      return member.shape(before, context);
    }
    if (value !== undefined) {
      if (before !== null || value.nullable) return value.shape(before, context);
      return value.defaultValue === undefined ? undefined : defaultFor(value, context);
    }
    if (keepUnknown) return before;
    report(context);
    return undefined;
  };

  const stepsOf = (name: string): StepsShaper | undefined => {
    if (embedding === 'plain' || !(TYPE_META.has(name) || name === 'metadata')) {
      return (members.get(name) ?? value)?.shape.inSteps;
    }
    return embedding !== 'root' && name === 'metadata' ? shapeMetadataInSteps : undefined;
  };

  const plain: MapShaper['plain'] = (object, context) => {
    let result: Record<string, JsonValue | undefined> | undefined;
    for (const name of Object.keys(object)) {
      const before = object[name];
      if (before === undefined) continue;
      context.path.push(name);
      const after = shapeMember(name, before, context);
      context.path.pop();
      if (after === before) continue;
      result ??= extend(object);
      if (after === undefined) Reflect.deleteProperty(result, name);
      else setOwn(result, name, after);
    }
    for (const [name, { defaultValue, size }] of withDefault) {
      if (context.room.isUsedUp) break;
      if (Object.hasOwn(result ?? object, name) || !context.room.take(name.length + size + MEMBER_SIZE)) continue;
      result ??= extend(object);
      setOwn(result, name, defaultValue);
    }
    return result ?? object;
  };

  const inSteps: MapShaper['inSteps'] = function* (object, context) {
    const names: string[] = [];
    const values: JsonValue[] = [];
    const dropped = new Set<string>();
    for (const name of keysOf(object)) {
      const before = object[name];
      if (before === undefined) continue;
      context.path.push(name);
      const large = isLarge(before) ? stepsOf(name) : undefined;
      const after = large === undefined ? shapeMember(name, before, context) : yield* large(before, context);
      context.path.pop();
      if (after === undefined) dropped.add(name);
      else {
        names.push(name);
        values.push(after);
      }
      yield;
    }
    for (const [name, { defaultValue, size }] of withDefault) {
      if (context.room.isUsedUp) break;
      const isThere = Object.hasOwn(object, name) && !dropped.has(name);
      if (isThere || !context.room.take(name.length + size + MEMBER_SIZE)) continue;
      names.push(name);
      values.push(defaultValue as JsonValue);
      yield;
    }
    return yield* mapOf(names, values, object);
  };
  return { plain, inSteps };
}

interface MapShaper {
  readonly plain: (value: JsonObject, context: ShapeContext) => JsonValue;
  readonly inSteps: (value: JsonObject, context: ShapeContext) => Steps<JsonValue>;
}

/** `before` where it has these members and no others. */
function* mapOf(names: readonly string[], values: readonly JsonValue[], before: JsonObject): Steps<JsonObject> {
  const result: Record<string, JsonValue> = {};
  let isSame = names.length === keysOf(before).length;
  for (const [index, name] of names.entries()) {
    isSame &&= before[name] === values[index];
    setOwn(result, name, values[index]);
    yield;
  }
  if (isSame) return before;
  rememberKeys(result, names);
  return result;
}

function* shapeMetadataInSteps(value: JsonValue, context: ShapeContext): Steps<JsonValue> {
  return context.metadataInSteps === undefined ? value : yield* context.metadataInSteps(value, printPath(context.path));
}

function shapeMetadata(value: JsonValue, context: ShapeContext): JsonValue {
  return context.metadata === undefined ? value : context.metadata(value, printPath(context.path));
}

function shapeList(list: readonly JsonValue[], context: ShapeContext, item: Member): JsonValue {
  let result: JsonValue[] | undefined;
  list.forEach((before, index) => {
    context.path.push(index);
    const after = before === null && !item.nullable ? (defaultFor(item, context) ?? null) : item.shape(before, context);
    context.path.pop();
    if (after === before) return;
    result ??= [...list];
    result[index] = after;
  });
  return result ?? list;
}

function* shapeListInSteps(list: readonly JsonValue[], context: ShapeContext, item: Member): Steps<JsonValue> {
  const result = new Array<JsonValue>(list.length);
  let isSame = true;
  for (const [index, before] of list.entries()) {
    context.path.push(index);
    const after = isLarge(before)
      ? yield* item.shape.inSteps(before, context)
      : before === null && !item.nullable
        ? (defaultFor(item, context) ?? null)
        : item.shape(before, context);
    context.path.pop();
    isSame &&= after === before;
    result[index] = after;
    yield;
  }
  return isSame ? list : result;
}

/** What stands for a null that may not be there; undefined: nothing. */
function defaultFor({ defaultValue, size }: Member, { room }: ShapeContext): JsonValue | undefined {
  return defaultValue !== undefined && room.take(size) ? defaultValue : undefined;
}

/** Where no schema is, no field is known. */
function dropFields(value: JsonObject, context: ShapeContext): JsonValue {
  const names = keysOf(value);
  if (names.length === 0) return value;
  for (const name of names) {
    if (!isReporting(context)) break;
    context.path.push(name);
    report(context);
    context.path.pop();
  }
  return {};
}

function isReporting({ unknown }: ShapeContext): boolean {
  return unknown !== undefined && unknown.length < MAX_UNKNOWN;
}

function report(context: ShapeContext): void {
  if (isReporting(context)) context.unknown?.push(printPath(context.path));
}

const DROP_FIELDS = shaper(
  (value, context) => {
    if (isJsonList(value)) return shapeList(value, context, ANY_MEMBER);
    return isJsonObject(value) ? dropFields(value, context) : value;
  },
  function* (value, context) {
    if (isJsonList(value)) return yield* shapeListInSteps(value, context, ANY_MEMBER);
    return isJsonObject(value) ? dropFields(value, context) : value;
  },
);

const ANY_MEMBER: Member = { shape: DROP_FIELDS, nullable: true, defaultValue: undefined, size: 0 };
