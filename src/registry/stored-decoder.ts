import { decodeObject } from '../api/codec/json-decode';
import { decodeMessage } from '../api/codec/protobuf-decode';
import { decodeEnvelope, isEnvelope } from '../api/codec/protobuf-envelope';
import type { KindDefinition } from '../api/kinds/kind-definition';
import { apiVersionOf, type KubeObject } from '../api/object';
import type { Schema } from '../api/schema/model';
import type { ResourceDecoder } from '../storage/cache/cache';

/**
 * Reads what stands in the store, whoever wrote it and in whichever served version: our own JSON, kube-apiserver's JSON,
 * or its Protobuf. Gives the storage version's object. Throws when the bytes are of no version that is served.
 */
export function storedDecoder(definition: KindDefinition, schema: Schema): ResourceDecoder {
  const { kind, storage } = definition;
  const storageApiVersion = apiVersionOf(storage.group, storage.version);

  const toStorage = (object: KubeObject, apiVersion: string): KubeObject => {
    if (apiVersion === storageApiVersion) return { ...object, kind, apiVersion };
    const version = definition.versions.find((one) => apiVersionOf(one.group, one.version) === apiVersion);
    if (version === undefined) throw new Error(`${kind} is stored as ${apiVersion}, which is not served`);
    return { ...(version.convert?.toStorage(object) ?? object), kind, apiVersion: storageApiVersion };
  };

  const structOf = (apiVersion: string) => {
    const version = definition.versions.find((one) => apiVersionOf(one.group, one.version) === apiVersion);
    const struct = version && schema.kind(version.group, version.version, kind);
    if (struct === undefined) throw new Error(`${kind} is stored as ${apiVersion}, which is not known`);
    return struct;
  };

  return {
    decode: (value) => {
      if (isEnvelope(value)) {
        const { apiVersion, raw } = decodeEnvelope(value);
        return toStorage(decodeMessage(structOf(apiVersion), raw) as KubeObject, apiVersion);
      }
      const parsed = JSON.parse(value.toString('utf8')) as KubeObject;
      const { apiVersion = '' } = parsed;
      if (apiVersion === storageApiVersion) return parsed;
      const { object } = decodeObject(structOf(apiVersion), parsed, { applyDefaults: false, collectUnknown: false });
      return toStorage(object, apiVersion);
    },
  };
}
