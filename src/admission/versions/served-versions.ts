import { decodeObjectSteps } from '../../api/codec/json-decode-steps';
import { invalid } from '../../api/errors/field-error';
import { invalidObject } from '../../api/errors/status-error';
import type { KindDefinition, ServedVersion } from '../../api/kinds/kind-definition';
import {
  apiVersionOf,
  parseApiVersion,
  type GroupVersionKind,
  type JsonObject,
  type JsonValue,
  type KubeObject,
} from '../../api/object';
import type { Steps } from '../../api/parts';
import type { Schema, StructType } from '../../api/schema/model';
import type { ServedResource } from '../../resources/served-resource';
import type { ObjectVersions, VersionedResource } from './object-versions';

/** What webhooks have to be told of what is served. */
interface Served {
  readonly schema: Schema;
  resolve(group: string, version: string, resource: string): ServedResource | undefined;
  generation(): number;
}

/** How the objects of requests look in the versions that webhooks are registered for. */
export function servedVersions(catalogue: Served): ObjectVersions {
  const servedOf = ({ group, version, resource }: VersionedResource): ServedResource => {
    const served = catalogue.resolve(group, version, resource);
    if (served === undefined) throw new Error(`${resource} of ${apiVersionOf(group, version)} are not served any more`);
    return served;
  };
  const ownType = ({ kind }: VersionedResource): StructType | undefined =>
    catalogue.schema.kind(kind.group, kind.version, kind.kind);
  return {
    generation: () => catalogue.generation(),
    equivalents: (of) => equivalents(catalogue, of),
    toVersion: (object, wanted, { options }) => {
      const served = servedOf(wanted);
      if (isWhole(served, wanted)) {
        const { version, custom, definition } = served;
        const apiVersion = apiVersionOf(version.group, version.version);
        const converted =
          version.remote === undefined
            ? (version.convert?.fromStorage(object) ?? object)
            : version.remote.known(asGoWrites(object), apiVersion);
        const typed = { ...converted, kind: definition.kind, apiVersion };
        // What is applied does not pass through a struct of Go.
        return custom && options.kind === 'PatchOptions' ? typed : asGoWrites(typed);
      }
      const { kind, group, version } = wanted.kind;
      const typed = { ...object, kind, apiVersion: apiVersionOf(group, version) };
      return ownType(wanted)?.fields.has('metadata') === false ? withoutMetadata(typed) : asGoWrites(typed);
    },
    *fromVersion(document, given, of) {
      const served = servedOf(given);
      if (isWhole(served, given)) {
        const decodedObject = yield* decodeWhole(document, served);
        const { remote } = served.version;
        if (remote === undefined) return decodedObject;
        const apiVersion = apiVersionOf(of.group, of.version);
        return withoutZeroTime(yield* remote.knownInSteps(asGoWrites(decodedObject), apiVersion));
      }
      checkKind(document, given.kind);
      const type = ownType(given);
      if (type === undefined) throw new Error(`the schema has no ${given.kind.kind}`);
      const { kind, version } = given.kind;
      return yield* decoded(type, document, kind, version);
    },
  };
}

/** Whether the resource's own objects are meant, and not those of a kind that only a subresource has. */
function isWhole({ definition }: ServedResource, { kind }: VersionedResource): boolean {
  return definition.kind === kind.kind;
}

function equivalents(catalogue: Served, of: VersionedResource): readonly VersionedResource[] {
  const served = catalogue.resolve(of.group, of.version, of.resource);
  if (served === undefined) return [];
  const { definition } = served;
  const { resource } = definition;
  return definition.versions.flatMap((one) => {
    const { group, version } = one;
    const isSame = group === of.group && version === of.version;
    if (isSame || catalogue.resolve(group, version, resource) === undefined) return [];
    const kind = kindIn(definition, one, of.subresource);
    return kind === undefined ? [] : [{ group, version, resource, subresource: of.subresource, kind }];
  });
}

function kindIn(
  { kind, subresources }: KindDefinition,
  { group, version, withoutSubresources = [] }: ServedVersion,
  subresource: string,
): VersionedResource['kind'] | undefined {
  if (subresource === '') return { group, version, kind };
  if (withoutSubresources.includes(subresource)) return undefined;
  const found = subresources.find(({ name }) => name === subresource);
  return found && (found.wireKind ?? { group, version, kind });
}

function* decoded(type: StructType, document: JsonObject, kind: string, version: string): Steps<KubeObject> {
  const { object } = yield* decodeObjectSteps(type, document, {
    applyDefaults: true,
    collectUnknown: false,
    kind,
    version,
  });
  return withoutZeroTime(object);
}

function* decodeWhole(document: JsonObject, { definition, version, type, custom }: ServedResource): Steps<KubeObject> {
  const { kind, applyDefaults, storage } = definition;
  const apiVersion = apiVersionOf(version.group, version.version);
  if (custom) checkCustomKind(document, { ...version, kind });
  else checkKind(document, { ...version, kind });
  const typed = { ...(yield* decoded(type, document, kind, version.version)), kind, apiVersion };
  const complete = applyDefaults?.(typed, version.version) ?? typed;
  if (version.remote !== undefined) return typed;
  return (
    version.convert?.toStorage(complete) ?? { ...complete, apiVersion: apiVersionOf(storage.group, storage.version) }
  );
}

/** An object that has not been created yet has Go's zero time, as all structs of Go that are written. */
function asGoWrites({ kind, apiVersion, metadata, ...rest }: KubeObject): KubeObject {
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(apiVersion === undefined ? {} : { apiVersion }),
    metadata: metadata.creationTimestamp === undefined ? { ...metadata, creationTimestamp: null } : metadata,
    ...rest,
  };
}

/** Throws when a patch has made it something else. */
function checkKind({ kind, apiVersion }: JsonObject, wanted: GroupVersionKind): void {
  if (kind === wanted.kind && apiVersion === apiVersionOf(wanted.group, wanted.version)) return;
  throw new Error(
    `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "${wanted.kind}"`,
  );
}

/** Objects of custom resources say themselves what they are, and are validated for it. */
function checkCustomKind({ kind, apiVersion, metadata }: JsonObject, wanted: GroupVersionKind): void {
  const { group, version } = wanted;
  const wantedVersion = apiVersionOf(group, version);
  const found = { kind: textOf(kind), apiVersion: textOf(apiVersion) };
  const problems = [
    ...(found.kind === wanted.kind ? [] : [invalid('kind', found.kind, `must be ${wanted.kind}`)]),
    ...(found.apiVersion === wantedVersion
      ? []
      : [invalid('apiVersion', found.apiVersion, `must be ${wantedVersion}`)]),
  ];
  if (problems.length === 0) return;
  const { name } = (metadata ?? {}) as KubeObject['metadata'];
  throw invalidObject({ group: parseApiVersion(found.apiVersion).group, kind: found.kind }, name ?? '', problems);
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Options of connections are given metadata, as every object of admission has it. */
function withoutZeroTime(object: KubeObject): KubeObject {
  if ((object.metadata as KubeObject['metadata'] | undefined) === undefined) return { ...object, metadata: {} };
  if (object.metadata.creationTimestamp !== null) return object;
  const { creationTimestamp: _zero, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** The options of connections are no objects. */
function withoutMetadata(object: KubeObject): KubeObject {
  const { metadata: _none, ...rest } = object;
  return rest as KubeObject;
}
