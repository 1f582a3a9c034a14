import type { JsonValue, KubeObject } from '../object';
import type { Steps } from '../parts';

/**
 * The model of a type, from which everything schema-driven is derived: JSON type check and pruning, Protobuf codec,
 * constant defaults, strategic merge patch, server-side apply, OpenAPI. Built from `proto/` for built-in kinds and from
 * a CustomResourceDefinition's structural schema for custom ones. Immutable; types may be recursive.
 */

export type ScalarName = 'string' | 'bool' | 'int32' | 'int64' | 'double' | 'bytes';

/** Types whose JSON form is not that of their message (reference: API types, "special"). */
export type SpecialName =
  | 'Time'
  | 'MicroTime'
  | 'Duration'
  | 'Quantity'
  | 'IntOrString'
  | 'RawExtension'
  | 'FieldsV1'
  | 'JSON'
  | 'JSONSchemaPropsOrBool'
  | 'JSONSchemaPropsOrArray'
  | 'JSONSchemaPropsOrStringArray';

export type ListType = 'atomic' | 'set' | 'map';
export type MapType = 'atomic' | 'granular';

export interface ScalarType {
  readonly kind: 'scalar';
  readonly scalar: ScalarName;
  /** The closed set of values, where the API declares one. Informs OpenAPI; validation belongs to the kinds. */
  readonly enum?: readonly string[];
  /** Of bytes, which upstream declares as a list: OpenAPI says so, and merging takes them as one value anyway. */
  readonly listType?: ListType;
}

export interface SpecialType {
  readonly kind: 'special';
  readonly special: SpecialName;
  /** For the three `JSONSchemaPropsOr...` forms: JSONSchemaProps of their version. */
  readonly schema?: StructType;
}

export interface ListTypeRef {
  readonly kind: 'list';
  readonly items: TypeRef;
  /**
   * How server-side apply merges. Absent: atomic. Where only strategic merge patch has been told how (`patchStrategy`),
   * this says the same, as kube-apiserver infers it: `map` by the merge key, or `set` without one.
   */
  readonly listType?: ListType;
  /** For `map`: the names of the fields that identify an item. */
  readonly listMapKeys?: readonly string[];
  /** Strategic merge patch: `merge` by `patchMergeKey` (or by value when that is absent); absent: replaced whole. */
  readonly patchStrategy?: 'merge' | 'replace';
  readonly patchMergeKey?: string;
  /** On the wire the list is the field `items = 1` of a message of its own. */
  readonly wrapped?: boolean;
}

export interface MapTypeRef {
  readonly kind: 'map';
  readonly values: TypeRef;
  readonly mapType?: MapType;
}

export interface StructType {
  readonly kind: 'struct';
  /** Full name, as in Protobuf: `k8s.io.api.apps.v1.Deployment`. */
  readonly name: string;
  /** One line for `kubectl explain`. */
  readonly description: string;
  /** JSON view: inlined fields stand flat among the others. In declaration order, which is JSON output order. */
  readonly fields: ReadonlyMap<string, Field>;
  /** Wire view: as in Protobuf, inlined messages nested. Ascending by number. */
  readonly wire: readonly WireField[];
  /** Has apiVersion and kind of its own (TypeMeta inline). */
  readonly isKind: boolean;
  /** The API group and version that declare it; absent for messages that belong to none (Quantity). */
  readonly groupVersion?: { readonly group: string; readonly version: string };
  /** Server-side apply takes the value as one when this is `atomic`, unless the field says otherwise. */
  readonly mapType?: MapType;
  /** One of several fields is set: the field that says which, then those. */
  readonly union?: readonly string[];
  /** Custom resources: fields that the schema does not name are kept. */
  readonly preserveUnknownFields?: boolean;
  /**
   * Custom resources: their schema decides what of a body stays and what is filled in, and leaves values of a wrong type
   * for validation to refuse. Absent: the type itself is what bodies are decoded by.
   */
  readonly decode?: StructDecoder;
}

/** From parsed JSON to the object, and the paths of the fields that were dropped because they are unknown. Throws a 400. */
export interface StructDecoder {
  (value: unknown, options: StructDecoderOptions): DecodedStruct;
  /** The same for a large value. Absent: it never takes long. */
  readonly inSteps?: (value: unknown, options: StructDecoderOptions) => Steps<DecodedStruct>;
}

export interface StructDecoderOptions {
  readonly collectUnknown: boolean;
  readonly applyDefaults: boolean;
  readonly kind?: string;
  readonly version?: string;
}

export interface DecodedStruct {
  readonly object: KubeObject;
  readonly unknownFields: readonly string[];
}

/** Anything goes, nothing is known: custom resources without schema. */
export interface AnyType {
  readonly kind: 'any';
}

export type TypeRef = ScalarType | SpecialType | ListTypeRef | MapTypeRef | StructType | AnyType;

export interface Field {
  /** The JSON name. */
  readonly name: string;
  readonly type: TypeRef;
  /** Presence is explicit (a Go pointer): zero and absent differ. */
  readonly pointer: boolean;
  /** Emitted even when zero or empty (no `omitempty`, or a struct that is not a pointer). */
  readonly always: boolean;
  readonly required: boolean;
  /** Struct fields: strategic merge patch `retainKeys` (strategies of a Deployment, volumes). */
  readonly retainKeys: boolean;
  /** Struct fields: server-side apply treats the whole value as one (`structType: atomic`, selectors for example). */
  readonly mapType?: MapType;
  readonly patchStrategy?: 'merge' | 'replace';
  /** Constant default, in JSON form. */
  readonly defaultValue?: JsonValue;
  readonly description: string;
}

export interface WireField {
  readonly number: number;
  /** Name in Protobuf. */
  readonly name: string;
  /** The JSON field; undefined for an inlined message, whose own fields stand flat in JSON. */
  readonly json: string | undefined;
  readonly type: TypeRef;
  readonly pointer: boolean;
}

/** The types of all kinds that the server knows by name. */
export interface Schema {
  /** The struct of a kind, a list (`PodList`), options (`DeleteOptions`) or any other message with TypeMeta. */
  kind(group: string, version: string, kind: string): StructType | undefined;
  /** By full Protobuf name. */
  message(name: string): StructType | undefined;
  /** Every struct, for OpenAPI. */
  messages(): Iterable<StructType>;
}
