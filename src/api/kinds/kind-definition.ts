import type { RemoteConversion } from '../conversion-needed';
import type { FieldError } from '../errors/field-error';
import type { KubeObject } from '../object';
import type { Steps } from '../parts';
import type { UserInfo } from '../user';

/**
 * What the server knows of a kind, in one record. Routing, discovery, OpenAPI, tables, storage keys and the registry
 * read it; a CustomResourceDefinition yields the same record at run time.
 */

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

/** Every verb of an ordinary stored resource, in discovery's order. */
export const ALL_VERBS: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

/** A release of the API under which a kind is served. */
export interface ServedVersion {
  readonly group: string;
  readonly version: string;
  /** Kinds and resources that only some versions have; absent: as in the definition. */
  readonly verbs?: readonly Verb[];
  readonly categories?: readonly string[];
  readonly shortNames?: readonly string[];
  /** `v1beta1 Foo is deprecated in v1.19+, ...`: sent as a Warning header with each answer. */
  readonly deprecationWarning?: string;
  /** The release without it ("1.22"), for the audit annotation and `apiserver_requested_deprecated_apis`. */
  readonly removedRelease?: string;
  /** Field selector labels of this version where they are named otherwise than in the definition. Storage version. */
  readonly selectableFields?: Readonly<Record<string, (object: KubeObject) => string>>;
  /** Subresources of the definition that this version does not have. */
  readonly withoutSubresources?: readonly string[];
  /** Where this version departs from the definition's: batch/v1beta1 cron jobs orphan, batch/v1 ones do not. */
  readonly defaultGarbageCollection?: 'background' | 'orphan';
  /**
   * Lossless conversion between this version and the stored one. Absent: the versions have the same shape and only
   * `apiVersion` differs, so that stored bytes serve both.
   */
  readonly convert?: {
    readonly toStorage: (object: KubeObject) => KubeObject;
    readonly fromStorage: (object: KubeObject) => KubeObject;
  };
  /** Absent nearly everywhere: versions between which a webhook converts. Then there is no `convert`. */
  readonly remote?: RemoteConversion;
}

/** The version that a client sent, for rules that differ between versions of a kind. */
export interface RequestedVersion {
  readonly group: string;
  readonly version: string;
}

/** Who writes what, and when: for the few kinds whose objects record it. Absent fields: not known. */
export interface WriteRequest {
  readonly requested?: RequestedVersion;
  readonly user?: UserInfo;
  /** RFC 3339, UTC, whole seconds. */
  readonly now: string;
}

/** What a create or an update does to the object besides storing it. All pure; a change is a new object. */
export interface Strategy {
  /** Resets what clients may not set (status, for example), computes what the server sets. Storage version. */
  readonly prepareForCreate?: (object: KubeObject, request?: WriteRequest) => KubeObject;
  readonly prepareForUpdate?: (object: KubeObject, old: KubeObject, request?: WriteRequest) => KubeObject;
  /** An update without resourceVersion is invalid, though the kind allows such updates elsewhere (services). */
  readonly requiresResourceVersion?: boolean;
  /** Of a subresource, where it is not the change alone: see the definition's. */
  readonly metadataOnUpdate?: readonly MetadataCheck[];
  /** The form in which a valid object is kept; what validation says is about the object as it was sent. */
  readonly canonicalize?: (object: KubeObject) => KubeObject;
  /** All problems at once, without those of metadata, which every kind shares. Storage version, defaults applied. */
  readonly validateCreate?: (object: KubeObject, requested?: RequestedVersion) => readonly FieldError[];
  /** What a client should know of an object that it may write all the same; sent as Warning headers. Storage version. */
  readonly warningsOf?: (object: KubeObject) => readonly string[];
  /** Only what concerns the change, in addition to `validateCreate` where the kind wants that too (call it). */
  readonly validateUpdate?: (
    object: KubeObject,
    old: KubeObject,
    requested?: RequestedVersion,
  ) => readonly FieldError[];
  /**
   * Rules in CEL, for objects in which the others have found nothing that makes them meaningless. An expensive rule takes many
   * steps. `old`: absent of a new object. `heard`: is told of rules that are broken where nothing has changed. Undefined: there
   * are none.
   */
  readonly checkRules?: (
    object: KubeObject,
    old: KubeObject | undefined,
    requested?: RequestedVersion,
    heard?: { warn(text: string): void },
  ) => Steps<readonly FieldError[]> | undefined;
  /** What validation takes does not show in the size of an object: any is looked at a part at a time. */
  readonly validatesInParts?: (requested?: RequestedVersion) => boolean;
  /** An object with such problems is told that its rules were not checked, as custom resources are. */
  readonly tellsOfUncheckedRules?: boolean;
}

export interface SubresourceDefinition {
  /** `status`, `scale`, `approval`, `finalize`, `binding`, `eviction`, `token`, `log` ... */
  readonly name: string;
  readonly verbs: readonly Verb[];
  /** The kind on the wire where it is not the parent's: `autoscaling/v1 Scale` for deployments/scale. */
  readonly wireKind?: { readonly group: string; readonly version: string; readonly kind: string };
  /** For subresources that read and write the parent object whole (status, approval, finalize). */
  readonly strategy?: Strategy;
  /** For `exec`, `proxy` and the like: its kind is that of its options, and what is sent is not the API's to read. */
  readonly connects?: boolean;
  /** For `scale`: where in the parent the three values are. */
  readonly scale?: {
    readonly specReplicasPath: readonly string[];
    readonly statusReplicasPath: readonly string[];
    /** What the parent selects by, in its string form or as what is to be printed. */
    readonly selector: (parent: KubeObject) => unknown;
    readonly printSelector?: (selector: object) => Steps<string>;
  };
}

export interface ColumnDefinition {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format: string;
  readonly description: string;
  /** 0 is shown always, 1 with `-o wide`. */
  readonly priority: number;
}

export interface RowCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface TableDefinition {
  readonly columns: readonly ColumnDefinition[];
  /** The cells of one row, in the order of the columns. `now` is for ages (milliseconds since the epoch). */
  readonly cells: (object: KubeObject, now: number) => readonly unknown[];
  /**
   * How many of the cells may look through all of an object, or show it: those of a large one take long, and are filled later where
   * the caller has them so (`fill-later.ts`). Absent: none.
   */
  readonly longCells?: number | undefined;
  readonly conditions?: (object: KubeObject) => readonly RowCondition[];
  /** The order of a list's rows, negative where `left` comes first; absent: that of the list. */
  readonly compare?: (left: KubeObject, right: KubeObject) => number;
}

export interface WrittenVersion {
  readonly group: string;
  readonly version: string;
  /** From the version of memory; `ServedVersion.convert.toStorage` leads back. */
  readonly fromMemory: (object: KubeObject) => KubeObject;
}

/** Rules of a kind for metadata: those for new objects as well (`own`), or those for a change (`change`). */
export type MetadataCheck = 'own' | 'change';

export interface KindDefinition {
  readonly kind: string;
  /** Plural, lower case: the name in URLs. */
  readonly resource: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly Verb[];
  /** In order of preference within each group. */
  readonly versions: readonly ServedVersion[];
  /** The group in messages about invalid objects, for kinds that have moved since; absent: the storage version's. */
  readonly errorGroup?: string;
  /** The version of objects in memory, and in the store unless `written` says otherwise. */
  readonly storage: { readonly group: string; readonly version: string };
  /** The version of the bytes in the store where it is an older one than that of memory, which has a better shape. */
  readonly written?: WrittenVersion;
  /** The key's part between `/registry/` and namespace or name: `pods`, `services/specs`. */
  readonly storagePrefix: string;
  readonly subresources: readonly SubresourceDefinition[];
  /** How names are checked: returns the problems' details, as `validation/names.ts` words them. */
  readonly validateName: (name: string, prefix: boolean) => readonly string[];
  /** Main strategy; also used by patch and apply. */
  readonly strategy: Strategy;
  /**
   * Defaults that depend on other fields, after the schema's constant ones. Runs on every decoded body, and on what other
   * writers have stored, for the version that was sent or stored, before conversion.
   */
  readonly applyDefaults?: (object: KubeObject, version: string) => KubeObject;
  /**
   * What is filled in when an object is read that another writer, or an older release, has stored, and left to the strategy
   * when it is sent. After the defaults; storage version.
   */
  readonly completeStored?: (object: KubeObject) => KubeObject;
  /** Field selector labels beyond metadata.name and metadata.namespace, each with how to read it. Storage version. */
  readonly selectableFields: Readonly<Record<string, (object: KubeObject) => string>>;
  /** The one of these labels by which lists for one value are common, such as a kubelet's for the pods of its node. */
  readonly indexedField?: string;
  /** What a selector by any other label is told; absent: the words that most kinds use. */
  readonly unknownFieldLabel?: (label: string) => string;
  readonly table?: TableDefinition;
  /** metadata.generation counts changes of anything but metadata and status. */
  readonly tracksGeneration: boolean;
  /** An object without a name is given one, whatever its generateName says (limit ranges). */
  readonly namedWhenNameless?: boolean;
  /** A PUT on a name that does not exist creates it (leases, for example). */
  readonly allowCreateOnUpdate: boolean;
  /** False: an update without resourceVersion is refused. */
  readonly allowUnconditionalUpdate: boolean;
  /** What a delete answers, the object or a Status, whether the object is gone or not; absent: what is left of it. */
  readonly deleteReturnsObject?: boolean;
  /**
   * What a delete without propagationPolicy does: jobs and replication controllers orphan. What nothing depends on (events)
   * is never kept for the garbage collector, whatever the policy.
   */
  readonly defaultGarbageCollection: 'background' | 'orphan' | 'unsupported';
  /**
   * What the first delete changes besides setting a deletionTimestamp, for kinds that a controller has to empty first
   * (namespaces, custom resource definitions): such an object always stays until a later write or delete. `now`: RFC 3339.
   */
  readonly prepareForDelete?: (object: KubeObject, now: string) => KubeObject;
  /** The first delete of such a kind says nothing to the garbage collector, whatever the policy (custom resource definitions). */
  readonly firstDeleteIgnoresPolicy?: boolean;
  /** Objects that a cluster cannot do without: why one of this name is not deleted, for a 403; undefined: it may be. */
  readonly refuseDelete?: (name: string) => string | undefined;
  /** False while something other than metadata.finalizers holds a terminating object (spec.finalizers of namespaces). */
  readonly canRemove?: (object: KubeObject) => boolean;
  /** Who owns which field is written down only from the first apply on: APIServices have no managedFields before. */
  readonly ownedOnceApplied?: boolean;
  /** Which of its own rules for metadata the kind looks at when an object changes, after those of all kinds. */
  readonly metadataOnUpdate: readonly MetadataCheck[];
  /** Finalizers need no domain: the kind has no rules of its own for metadata. */
  readonly unqualifiedFinalizers?: boolean;
  /** The rules of all kinds for metadata are looked at only in new objects that the kind's own find nothing wrong with. */
  readonly metadataCheckedLast?: boolean;
  /** Seconds the object stays with a deletionTimestamp, when the kind deletes gracefully (pods). */
  readonly gracePeriodSeconds?: (object: KubeObject, requested: number | bigint | undefined) => number | bigint;
  /** False for kinds that kube-apiserver serves without a watch cache (events): resourceVersion=0 then means newest. */
  readonly watchCache: boolean;
  /** Objects vanish after this time (events). */
  readonly ttlSeconds?: number;
  /** False for kinds that are computed or only posted (reviews, bindings, componentstatuses). */
  readonly stored: boolean;
}
