import { sortedEntry } from '../apply/managed-fields';
import { decodeObject } from '../codec/json-decode';
import { decodeObjectSteps } from '../codec/json-decode-steps';
import { reportedPaths } from '../codec/reported-paths';
import { setOwn } from '../codec/set-own';
import type { Completion } from '../completion';
import { badRequest } from '../errors/status-error';
import type { JsonObject, JsonValue, KubeObject, ManagedFieldsEntry, ObjectMeta } from '../object';
import { isLarge, keysOf, rememberKeys, type Steps } from '../parts';
import type { DecodedStruct, StructDecoder, StructDecoderOptions, StructType } from '../schema/model';
import { isJsonObject } from './json-schema';
import { DefaultsRoom, type ShapeContext, type Shaper } from './shape';

/**
 * The decoder of a custom kind: metadata by its type, everything else by the kind's shape. Values of a wrong type are
 * left for validation to refuse, so that a client hears of all problems at once. `shapeOf` is asked when a body comes;
 * `wrapper`: a struct whose only field is `metadata`, so that errors have a path.
 */
export function customDecoder(shapeOf: () => Shaper | undefined, wrapper: StructType): StructDecoder {
  const begin = (value: unknown, options: StructDecoderOptions) => {
    const sent = checkedObject(value as JsonValue, options);
    const unknownFields: string[] = [];
    const decodeMetadata = (metadata: unknown, path: string): ObjectMeta => {
      const decoded = decodeObject(wrapper, { metadata }, options);
      addUnknown(unknownFields, decoded, path);
      const { managedFields } = decoded.object.metadata;
      return finishMetadata(decoded, managedFields?.map(sortedEntry));
    };
    function* decodeMetadataSteps(metadata: unknown, path: string): Steps<ObjectMeta> {
      const decoded = yield* decodeObjectSteps(wrapper, { metadata }, options);
      addUnknown(unknownFields, decoded, path);
      const { managedFields } = decoded.object.metadata;
      return finishMetadata(decoded, managedFields && (yield* sortedEntries(managedFields)));
    }
    const context: ShapeContext = {
      unknown: options.collectUnknown ? unknownFields : undefined,
      path: [],
      room: new DefaultsRoom(true),
      metadata: (metadata, path) => decodeMetadata(metadata, path) as unknown as JsonValue,
      *metadataInSteps(metadata, path) {
        return (yield* decodeMetadataSteps(metadata, path)) as unknown as JsonValue;
      },
    };
    return { sent, unknownFields, decodeMetadata, decodeMetadataSteps, context };
  };
  const end = (object: JsonValue, unknownFields: readonly string[], isShaped: boolean): DecodedStruct => ({
    object: object as unknown as KubeObject,
    unknownFields: isShaped ? reportedPaths(unknownFields) : unknownFields,
  });
  const whole = (value: unknown, options: StructDecoderOptions): DecodedStruct => {
    const { sent, unknownFields, decodeMetadata, context } = begin(value, options);
    const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = sent;
    const object = { ...headOf(sent, decodeMetadata(metadata, 'metadata')), ...rest };
    const shape = shapeOf();
    return end(shape?.(object, context) ?? object, unknownFields, shape !== undefined);
  };
  function* inSteps(value: unknown, options: StructDecoderOptions): Steps<DecodedStruct> {
    const { sent, unknownFields, decodeMetadataSteps, context } = begin(value, options);
    const metadata = yield* decodeMetadataSteps(sent['metadata'], 'metadata');
    const object = yield* withHead(headOf(sent, metadata), sent);
    const shape = shapeOf();
    if (shape === undefined) return end(object, unknownFields, false);
    const shaped = isLarge(object) ? yield* shape.inSteps(object, context) : shape(object, context);
    return end(shaped, unknownFields, true);
  }
  return Object.assign(whole, { inSteps });
}

function checkedObject(value: JsonValue, { kind = '', version = '' }: StructDecoderOptions): JsonObject {
  if (isJsonObject(value)) return value;
  throw badRequest(
    `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: the document is not an object`,
  );
}

function addUnknown(all: string[], decoded: DecodedStruct, path: string): void {
  for (const field of decoded.unknownFields) all.push(path + field.slice('metadata'.length));
}

function finishMetadata({ object }: DecodedStruct, owners: readonly ManagedFieldsEntry[] | undefined): ObjectMeta {
  const { creationTimestamp, managedFields: _sent, ...others } = object.metadata;
  return {
    ...(creationTimestamp ? { creationTimestamp } : {}),
    ...others,
    ...(owners === undefined ? {} : { managedFields: owners }),
  };
}

function* sortedEntries(owners: readonly ManagedFieldsEntry[]): Steps<readonly ManagedFieldsEntry[]> {
  const sorted: ManagedFieldsEntry[] = [];
  for (const owner of owners) {
    sorted.push(sortedEntry(owner));
    yield;
  }
  return sorted;
}

function headOf({ kind, apiVersion }: JsonObject, metadata: ObjectMeta): JsonObject {
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(apiVersion === undefined ? {} : { apiVersion }),
    metadata: metadata as unknown as JsonValue,
  };
}

/** The other members of `sent`, of which there may be many, after those of the head. */
function* withHead(head: JsonObject, sent: JsonObject): Steps<JsonObject> {
  const object: Record<string, unknown> = { ...head };
  const names = Object.keys(head);
  for (const name of keysOf(sent)) {
    if (name === 'kind' || name === 'apiVersion' || name === 'metadata') continue;
    names.push(name);
    setOwn(object, name, sent[name]);
    yield;
  }
  rememberKeys(object, names);
  return object as JsonObject;
}

/** Brings a stored object up to the current schema. The object itself when there is nothing to do. */
export function completeStored(shape: Shaper): Completion {
  const context = (): ShapeContext => ({ unknown: undefined, path: [], room: new DefaultsRoom(false) });
  return Object.assign(
    (object: KubeObject) => shape(object as unknown as JsonValue, context()) as unknown as KubeObject,
    {
      *inSteps(object: KubeObject): Steps<KubeObject> {
        const value = object as unknown as JsonValue;
        const shaped = isLarge(value) ? yield* shape.inSteps(value, context()) : shape(value, context());
        return shaped as unknown as KubeObject;
      },
    },
  );
}
