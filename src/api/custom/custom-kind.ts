import { parseExact } from '../codec/exact-json';
import type { RemoteConversion } from '../conversion-needed';
import { deepEqual } from '../kinds/deep-equal';
import { defineKind } from '../kinds/define-kind';
import { valueAt } from '../kinds/field-values';
import type {
  KindDefinition,
  RequestedVersion,
  ServedVersion,
  Strategy,
  SubresourceDefinition,
  TableDefinition,
  Verb,
} from '../kinds/kind-definition';
import { keepStatus } from '../kinds/strategies';
import { statusSubresource } from '../kinds/subresources';
import { apiVersionOf, type JsonObject, type KubeObject } from '../object';
import type { StructType } from '../schema/model';
import { storageVersionOf, type CustomResourceDefinition, type CustomVersion } from './custom-resource-definition';
import { CustomValidation } from './custom-validation';
import { completed, inSuccession, type Completion } from '../completion';
import type { Steps } from '../parts';
import { completeStored, customDecoder } from './decode';
import { withoutDefaults } from './json-schema';
import { customTable } from './printer-columns';
import { customScale, fieldPath } from './scale';
import { compileShape, type Shaper } from './shape';
import { customStruct, metadataWrapper } from './struct-type';
import { compareVersions } from './version-order';

/** What a CustomResourceDefinition yields: the same record as built-in kinds have, and what hangs on each version. */
export interface CustomKind {
  /** Of the storage version, with the served versions in order of preference. */
  readonly definition: KindDefinition;
  readonly versions: readonly CustomKindVersion[];
  readonly listKind: string;
  readonly decoder: StoredDecoder;
  /** Takes out of objects of a version what its schema does not know. */
  readonly prune: (version: string) => Completion;
}

export interface CustomKindVersion {
  /** The kind's, with the subresources of this version. */
  readonly definition: KindDefinition;
  readonly version: ServedVersion;
  readonly type: StructType;
  readonly table: TableDefinition;
  /** For OpenAPI. */
  readonly schema: JsonObject;
}

/** How stored bytes become objects of the storage version, up to date with its schema. */
export interface StoredDecoder {
  readonly decode: (value: Buffer) => KubeObject;
  readonly storedAs: { readonly kind: string; readonly apiVersion: string };
  readonly complete?: Completion;
  readonly keepsVersion?: boolean;
  readonly adopt?: (before: { readonly apiVersion: string }) => Completion | undefined;
}

/** In the order in which discovery lists them for custom resources. */
const VERBS: readonly Verb[] = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
/** What OpenAPI says of a version without a schema, or with one that need not be structural. */
const OPEN_SCHEMA: JsonObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/**
 * The kind that a definition with accepted names describes. Schemas are compiled when they are first used. `objectMeta`:
 * the type of every object's metadata. `remote`: a webhook converts between versions.
 */
export function customKind(
  crd: CustomResourceDefinition,
  objectMeta: StructType,
  remote?: RemoteConversion,
): CustomKind {
  const { spec } = crd;
  const names = crd.status?.acceptedNames ?? spec.names;
  const storageVersion = storageVersionOf(crd);
  const shapes = new Shapes(crd);
  const served = spec.versions
    .filter((version) => version.served)
    .sort((left, right) => compareVersions(left.name, right.name));
  const { strategy, ofStatus } = customStrategies(crd, storageVersion, shapes, remote !== undefined);
  const subresourcesOf = (version: CustomVersion) => subresourcesOfVersion(version, ofStatus);
  const subresources = uniqueByName(served.flatMap(subresourcesOf));
  const definition: KindDefinition = {
    ...defineKind({
      group: spec.group,
      kind: names.kind,
      resource: names.plural,
      singular: names.singular ?? '',
      shortNames: names.shortNames ?? [],
      categories: names.categories ?? [],
      namespaced: spec.scope === 'Namespaced',
      verbs: VERBS,
      versions: [storageVersion],
      storageVersion,
      storagePrefix: `${spec.group}/${names.plural}`,
      subresources,
      strategy,
      tracksGeneration: true,
      allowUnconditionalUpdate: false,
      unqualifiedFinalizers: true,
    }),
    versions: served.map((version) =>
      servedVersion(crd, version, without(subresources, subresourcesOf(version)), shapes, remote),
    ),
    // Discovery has the status of custom resources before their scale.
    subresources,
  };
  const wrapper = metadataWrapper(objectMeta, names.kind);
  return {
    definition,
    versions: served.map((version, index): CustomKindVersion => {
      const schema = version.schema?.openAPIV3Schema;
      const open = spec.preserveUnknownFields === true || schema === undefined;
      return {
        definition: { ...definition, subresources: subresourcesOf(version) },
        version: definition.versions[index] ?? { group: spec.group, version: version.name },
        type: customStruct(open ? undefined : schema, {
          group: spec.group,
          version: version.name,
          kind: names.kind,
          objectMeta,
          decode: customDecoder(() => shapes.of(version.name), wrapper),
        }),
        table: customTable(version.additionalPrinterColumns),
        schema: open ? OPEN_SCHEMA : (schema as unknown as JsonObject),
      };
    }),
    listKind: names.listKind ?? `${names.kind}List`,
    decoder: remote === undefined ? storedDecoder(crd, names.kind, shapes) : keepingDecoder(crd, names.kind, shapes),
    prune: (version) => shapes.pruner(version),
  };
}

/** The shapes of the versions' schemas; each is compiled when an object of its version first comes by. */
class Shapes {
  readonly #compiled = new Map<string, Shaper | undefined>();
  readonly #schemas: ReadonlyMap<string, CustomVersion>;
  readonly #keepAll: boolean;

  constructor({ spec }: CustomResourceDefinition) {
    this.#schemas = new Map(spec.versions.map((version) => [version.name, version]));
    this.#keepAll = spec.preserveUnknownFields === true;
  }

  /** Undefined: nothing is changed. */
  of(version: string): Shaper | undefined {
    if (this.#compiled.has(version)) return this.#compiled.get(version);
    const schema = this.#schemas.get(version)?.schema?.openAPIV3Schema;
    const shape = this.#keepAll || schema === undefined ? undefined : compileShape(schema);
    this.#compiled.set(version, shape);
    return shape;
  }

  /** Whether objects look different in a version than they are stored. */
  differs(version: CustomVersion, storageVersion: string): boolean {
    const stored = this.#schemas.get(storageVersion)?.schema;
    return !this.#keepAll && !deepEqual(version.schema?.openAPIV3Schema, stored?.openAPIV3Schema);
  }

  /** Takes out what a version's schema does not know; its defaults are for objects that are sent in it. */
  pruner(version: string): Completion {
    let made: Completion | undefined;
    const prune = (): Completion => (made ??= this.#compilePruner(version));
    return Object.assign((object: KubeObject) => prune()(object), {
      inSteps: (object: KubeObject) => completed(prune(), object),
    });
  }

  #compilePruner(version: string): Completion {
    const schema = this.#schemas.get(version)?.schema?.openAPIV3Schema;
    const shape = schema === undefined ? undefined : compileShape(withoutDefaults(schema));
    return shape === undefined ? (object) => object : completeStored(shape);
  }
}

/**
 * Objects may have been stored in any version; with the conversion that exists (None) only their apiVersion differs. Each
 * is brought up to date by the schema of the version in which it was stored.
 */
function storedDecoder(crd: CustomResourceDefinition, kind: string, shapes: Shapes): StoredDecoder {
  const { group } = crd.spec;
  const storageVersion = storageVersionOf(crd);
  const apiVersion = apiVersionOf(group, storageVersion);
  /** By the schema of a version other than the storage version. */
  const completeOther = (from: string): Completion | undefined => {
    const version = from.slice(group.length + 1);
    const shape = version === storageVersion ? undefined : shapes.of(version);
    return shape && completeStored(shape);
  };
  const decode = (value: Buffer): KubeObject => {
    const stored = parseExact(value.toString('utf8')) as KubeObject;
    const completed = completeOther(stored.apiVersion ?? '')?.(stored) ?? stored;
    return { ...completed, kind, apiVersion };
  };
  const shape = shapes.of(storageVersion);
  const complete = shape && completeStored(shape);
  const adopt = (before: { readonly apiVersion: string }): Completion | undefined =>
    inSuccession(completeOther(before.apiVersion), complete);
  return { decode, storedAs: { kind, apiVersion }, adopt, ...(complete === undefined ? {} : { complete }) };
}

/** Where a webhook converts, an object stays in the version that it was stored in, and is brought up to date by the schema of that. */
function keepingDecoder(crd: CustomResourceDefinition, kind: string, shapes: Shapes): StoredDecoder {
  const { group, versions } = crd.spec;
  const storageVersion = storageVersionOf(crd);
  const known = new Map(versions.map(({ name }) => [apiVersionOf(group, name), name]));
  const storageApiVersion = apiVersionOf(group, storageVersion);
  const completionOf = (version: string): Completion | undefined => {
    const shape = shapes.of(version);
    return shape && completeStored(shape);
  };
  return {
    decode: (value) => {
      const stored = parseExact(value.toString('utf8')) as KubeObject;
      const version = known.get(stored.apiVersion ?? '');
      if (version === undefined) return { ...stored, kind, apiVersion: storageApiVersion };
      return { ...(completionOf(version)?.(stored) ?? stored), kind };
    },
    keepsVersion: true,
    storedAs: { kind, apiVersion: storageApiVersion },
    complete: Object.assign((object: KubeObject): KubeObject => completionOf(storageVersion)?.(object) ?? object, {
      *inSteps(object: KubeObject): Steps<KubeObject> {
        const completion = completionOf(storageVersion);
        return completion === undefined ? object : yield* completed(completion, object);
      },
    }),
  };
}

function subresourcesOfVersion({ subresources }: CustomVersion, ofStatus: Strategy): readonly SubresourceDefinition[] {
  const status = statusSubresource(ofStatus);
  return [
    ...(subresources?.status === undefined ? [] : [status]),
    ...(subresources?.scale === undefined ? [] : [customScale(subresources.scale)]),
  ];
}

function uniqueByName(subresources: readonly SubresourceDefinition[]): readonly SubresourceDefinition[] {
  return [...new Map([...subresources].reverse().map((one) => [one.name, one])).values()].reverse();
}

/** The names of those that only other versions have. */
function without(all: readonly SubresourceDefinition[], own: readonly SubresourceDefinition[]): readonly string[] {
  return all.map(({ name }) => name).filter((name) => own.every((one) => one.name !== name));
}

/** Nothing but the status is written, and what the write says of field ownership. */
function keepAllButStatus(object: KubeObject, old: KubeObject): KubeObject {
  const { managedFields, resourceVersion } = object.metadata;
  const metadata = {
    ...old.metadata,
    ...(managedFields === undefined ? {} : { managedFields }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  const { status } = object;
  const { status: _status, ...kept } = old;
  return status === undefined ? { ...kept, metadata } : { ...kept, metadata, status };
}

function servedVersion(
  crd: CustomResourceDefinition,
  version: CustomVersion,
  withoutSubresources: readonly string[],
  shapes: Shapes,
  remote: RemoteConversion | undefined,
): ServedVersion {
  const { group } = crd.spec;
  const storageVersion = storageVersionOf(crd);
  const storedAs = apiVersionOf(group, storageVersion);
  const warning = deprecationWarning(crd, version);
  return {
    group,
    version: version.name,
    ...(remote === undefined ? {} : { remote }),
    ...(remote === undefined && shapes.differs(version, storageVersion)
      ? {
          convert: {
            toStorage: (object: KubeObject): KubeObject => ({ ...object, apiVersion: storedAs }),
            fromStorage: shapes.pruner(version.name),
          },
        }
      : {}),
    ...(warning === undefined ? {} : { deprecationWarning: warning }),
    ...(withoutSubresources.length === 0 ? {} : { withoutSubresources }),
    ...(version.selectableFields === undefined
      ? {}
      : { selectableFields: Object.fromEntries(version.selectableFields.map(selectableField)) }),
  };
}

/** The definition's words; without any, the newest version that is not deprecated itself is recommended. */
function deprecationWarning({ spec }: CustomResourceDefinition, version: CustomVersion): string | undefined {
  if (version.deprecated !== true) return undefined;
  if (version.deprecationWarning !== undefined) return version.deprecationWarning;
  const [better] = spec.versions
    .filter((one) => one.served && one.deprecated !== true && compareVersions(one.name, version.name) < 0)
    .sort((left, right) => compareVersions(left.name, right.name));
  const named = (name: string): string => `${apiVersionOf(spec.group, name)} ${spec.names.kind}`;
  const advice = better === undefined ? '' : `; use ${named(better.name)}`;
  return `${named(version.name)} is deprecated${advice}`;
}

function selectableField({
  jsonPath,
}: {
  readonly jsonPath: string;
}): readonly [string, (object: KubeObject) => string] {
  const path = fieldPath(jsonPath);
  return [
    path.join('.'),
    (object) => {
      const value = valueAt(object, ...path);
      const isScalar = ['string', 'number', 'bigint', 'boolean'].includes(typeof value);
      return isScalar ? String(value) : '';
    },
  ];
}

/** By the version in which an object is sent: its schema validates, and its subresources say whose the status is. */
function customStrategies(
  { spec }: CustomResourceDefinition,
  storageVersion: string,
  shapes: Shapes,
  isRemote: boolean,
): { readonly strategy: Strategy; readonly ofStatus: Strategy } {
  const structural = spec.preserveUnknownFields !== true;
  const rules = new Map(
    spec.versions.map((version) => [
      version.name,
      {
        statusApart: version.subresources?.status !== undefined,
        validation: new CustomValidation(version, structural),
      },
    ]),
  );
  const rulesOf = (requested: RequestedVersion | undefined) =>
    rules.get(requested?.version ?? storageVersion) ?? rules.get(storageVersion);
  const strategy: Strategy = {
    prepareForCreate: (object, request) => {
      if (rulesOf(request?.requested)?.statusApart !== true) return object;
      const { status: _status, ...rest } = object;
      return rest;
    },
    prepareForUpdate: (object, old, request) =>
      rulesOf(request?.requested)?.statusApart === true ? keepStatus(object, old) : object,
    validateCreate: (object, requested) => rulesOf(requested)?.validation.validateCreate(object) ?? [],
    validateUpdate: (object, old, requested) => rulesOf(requested)?.validation.validateUpdate(object, old) ?? [],
    ...(structural
      ? {
          checkRules: (object, old, requested, heard) => rulesOf(requested)?.validation.checkRules(object, old, heard),
          tellsOfUncheckedRules: true,
        }
      : {}),
    validatesInParts: (requested) => rulesOf(requested)?.validation.hasManyTrials === true,
    // What only another version knows is valid, and not kept.
    ...(!isRemote && spec.versions.some((version) => shapes.differs(version, storageVersion))
      ? { canonicalize: shapes.pruner(storageVersion) }
      : {}),
  };
  return {
    strategy,
    ofStatus: {
      ...strategy,
      prepareForUpdate: keepAllButStatus,
      validateUpdate: (object, old, requested) =>
        rulesOf(requested)?.validation.validateStatusUpdate(object, old) ?? [],
    },
  };
}
