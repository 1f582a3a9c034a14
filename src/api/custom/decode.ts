import { sortedEntry } from '../apply/managed-fields';
import { decodeObject } from '../codec/json-decode';
import { reportedPaths } from '../codec/reported-paths';
import { badRequest } from '../errors/status-error';
import type { JsonValue, KubeObject } from '../object';
import type { StructDecoder, StructType } from '../schema/model';
import { isJsonObject } from './json-schema';
import { DefaultsRoom, type Shaper } from './shape';

/**
 * The decoder of a custom kind: metadata by its type, everything else by the kind's shape. Values of a wrong type are
 * left for validation to refuse, so that a client hears of all problems at once. `shapeOf` is asked when a body comes;
 * `wrapper`: a struct whose only field is `metadata`, so that errors have a path.
 */
export function customDecoder(shapeOf: () => Shaper | undefined, wrapper: StructType): StructDecoder {
  return (value, options) => {
    if (!isJsonObject(value as JsonValue)) {
      const { kind = '', version = '' } = options;
      throw badRequest(
        `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: the document is not an object`,
      );
    }
    const { kind, apiVersion, metadata, ...rest } = value as KubeObject;
    const unknownFields: string[] = [];
    const decodeMetadata = (sent: unknown, path: string): KubeObject['metadata'] => {
      const decoded = decodeObject(wrapper, { metadata: sent }, options);
      for (const field of decoded.unknownFields) unknownFields.push(path + field.slice('metadata'.length));
      const { creationTimestamp, managedFields, ...others } = decoded.object.metadata;
      return {
        ...(creationTimestamp ? { creationTimestamp } : {}),
        ...others,
        ...(managedFields === undefined ? {} : { managedFields: managedFields.map(sortedEntry) }),
      };
    };
    const head = {
      ...(kind === undefined ? {} : { kind }),
      ...(apiVersion === undefined ? {} : { apiVersion }),
      metadata: decodeMetadata(metadata, 'metadata'),
    };
    const object = { ...head, ...rest } as KubeObject;
    const shape = shapeOf();
    if (shape === undefined) return { object, unknownFields };
    const shaped = shape(object as unknown as JsonValue, {
      unknown: options.collectUnknown ? unknownFields : undefined,
      path: [],
      room: new DefaultsRoom(true),
      metadata: (sent, path) => decodeMetadata(sent, path) as unknown as JsonValue,
    });
    return { object: shaped as unknown as KubeObject, unknownFields: reportedPaths(unknownFields) };
  };
}

/** Brings a stored object up to the current schema. The object itself when there is nothing to do. */
export function completeStored(shape: Shaper): (object: KubeObject) => KubeObject {
  return (object) =>
    shape(object as unknown as JsonValue, {
      unknown: undefined,
      path: [],
      room: new DefaultsRoom(false),
    }) as unknown as KubeObject;
}
