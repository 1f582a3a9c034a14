import { parseExact } from '../api/codec/exact-json';
import { decodeObject } from '../api/codec/json-decode';
import { decodeMessage } from '../api/codec/protobuf-decode';
import { decodeEnvelope, isEnvelope } from '../api/codec/protobuf-envelope';
import type { KindDefinition } from '../api/kinds/kind-definition';
import { apiVersionOf, type KubeObject } from '../api/object';
import type { Schema } from '../api/schema/model';
import type { ResourceDecoder } from '../storage/cache/cache';
import { isInCurrentForm } from '../storage/cache/stored-form';

/**
 * Reads what stands in the store, in whichever served version and form: our own JSON, kube-apiserver's JSON,
 * or its Protobuf. Gives the storage version's object. What this server did not write itself in its current form gets the
 * defaults of the version it is in, as kube-apiserver gives them to whatever it reads: an older release knew fewer, and
 * some values have none before they are read. Throws when the bytes are of no version that is served.
 */
export function storedDecoder(definition: KindDefinition, schema: Schema): ResourceDecoder {
  const { kind, storage } = definition;
  const storageApiVersion = apiVersionOf(storage.group, storage.version);

  const servedAs = (apiVersion: string) => {
    const version = definition.versions.find((one) => apiVersionOf(one.group, one.version) === apiVersion);
    if (version === undefined) throw new Error(`${kind} is stored as ${apiVersion}, which is not served`);
    const struct = schema.kind(version.group, version.version, kind);
    if (struct === undefined) throw new Error(`${kind} is stored as ${apiVersion}, which is not known`);
    return { version, struct };
  };

  const converted = (object: KubeObject, { version }: ReturnType<typeof servedAs>): KubeObject => ({
    ...(version.convert?.toStorage(object) ?? object),
    kind,
    apiVersion: storageApiVersion,
  });

  const decode = (stored: object, served: ReturnType<typeof servedAs>): KubeObject => {
    const { object } = decodeObject(served.struct, stored, { applyDefaults: true, collectUnknown: false });
    const defaulted = definition.applyDefaults?.(object, served.version.version) ?? object;
    const inStorageVersion = converted(defaulted, served);
    return definition.completeStored?.(inStorageVersion) ?? inStorageVersion;
  };

  return {
    // Known from the beginning: otherwise the first value of a kind, which may be a large one, would be parsed to learn it.
    storedAs: { kind, apiVersion: storageApiVersion },
    completeFrom: (apiVersion) => {
      const isKnown = definition.versions.some((one) => apiVersionOf(one.group, one.version) === apiVersion);
      return isKnown ? (object) => converted(object, servedAs(apiVersion)) : undefined;
    },
    decode: (value) => {
      if (isEnvelope(value)) {
        const { apiVersion, raw } = decodeEnvelope(value);
        const served = servedAs(apiVersion);
        return decode(decodeMessage(served.struct, raw), served);
      }
      const parsed = parseExact(value.toString('utf8')) as KubeObject;
      const { apiVersion = '' } = parsed;
      if (!isInCurrentForm(value)) return decode(parsed, servedAs(apiVersion));
      // Of the right types and complete, whichever version it is in.
      return apiVersion === storageApiVersion ? parsed : converted(parsed, servedAs(apiVersion));
    },
  };
}
