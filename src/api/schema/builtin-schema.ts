import { readFileSync } from 'node:fs';
import { packageFile } from '../package-file';
import type { FieldDescriptor, FileDescriptor, MessageDescriptor, SchemaDescriptor } from './descriptor';
import type { Field, ListTypeRef, ScalarName, ScalarType, Schema, StructType, TypeRef, WireField } from './model';

/** The types of all built-in kinds, with what OpenAPI and discovery want to know besides. */
export interface BuiltinSchema extends Schema {
  /** Every group version that `proto/` describes, `meta.k8s.io` among them. */
  readonly groupVersions: readonly { readonly group: string; readonly version: string }[];
}

const DESCRIPTOR_FILE = packageFile('generated', 'schema.json');

const META = 'k8s.io.apimachinery.pkg.apis.meta.v1';

/** kube-apiserver registers these in every group version, so that `{"apiVersion":"apps/v1","kind":"DeleteOptions"}` is known. */
const IN_EVERY_VERSION: ReadonlySet<string> = new Set([
  'CreateOptions',
  'DeleteOptions',
  'GetOptions',
  'ListOptions',
  'PatchOptions',
  'UpdateOptions',
  'WatchEvent',
]);

/** Known by their kind alone, whatever apiVersion stands beside it. */
const UNVERSIONED: ReadonlySet<string> = new Set([
  'APIGroup',
  'APIGroupList',
  'APIResourceList',
  'APIVersions',
  'Status',
]);

/** Kinds of one group version that are messages of another. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['/v1/List', `${META}.List`],
  ['meta.k8s.io/v1beta1/PartialObjectMetadata', `${META}.PartialObjectMetadata`],
  ['meta.k8s.io/v1beta1/Table', `${META}.Table`],
  ['meta.k8s.io/v1beta1/TableOptions', `${META}.TableOptions`],
]);

/**
 * Reads `generated/schema.json` (made by `npm run generate`) and indexes it by name. The fields of a type are built when
 * they are first asked for, because a server that starts needs few of them.
 */
export function loadBuiltinSchema(): BuiltinSchema {
  return buildSchema(JSON.parse(readFileSync(DESCRIPTOR_FILE, 'utf8')) as SchemaDescriptor);
}

/** The schema of a descriptor; see {@link loadBuiltinSchema}. */
export function buildSchema(descriptor: SchemaDescriptor): BuiltinSchema {
  const messages = new Map<string, LazyStruct>();
  const others = new Map<string, OtherMessage>();
  const kinds = new Map<string, LazyStruct>();
  const groupVersions: { readonly group: string; readonly version: string }[] = [];
  const resolve = (name: string) => messages.get(name) ?? others.get(name);

  for (const file of descriptor.files) {
    if (file.group !== undefined) groupVersions.push({ group: file.group, version: file.version ?? '' });
    for (const message of file.messages) {
      const name = `${file.package}.${message.name}`;
      if (message.jsonForm !== undefined || message.wrappedList === true) {
        others.set(name, { message, package: file.package });
        continue;
      }
      const struct = new LazyStruct(file, message, resolve);
      messages.set(name, struct);
      if (struct.isKind) kinds.set(`${file.group}/${file.version}/${message.name}`, struct);
    }
  }
  for (const [kind, name] of ALIASES) {
    const struct = messages.get(name);
    if (struct !== undefined) kinds.set(kind, struct);
  }

  const known = new Set(groupVersions.map(({ group, version }) => `${group}/${version}`));
  return {
    groupVersions,
    kind(group, version, kind) {
      const own = kinds.get(`${group}/${version}/${kind}`);
      if (own !== undefined) return own;
      const shared = UNVERSIONED.has(kind) || (IN_EVERY_VERSION.has(kind) && known.has(`${group}/${version}`));
      return shared ? messages.get(`${META}.${kind}`) : undefined;
    },
    message: (name) => messages.get(name),
    messages: () => messages.values(),
  };
}

/** A message that no struct stands for: JSON shows a text, a list or anything at all in its place. */
interface OtherMessage {
  readonly message: MessageDescriptor;
  readonly package: string;
}

type Resolve = (name: string) => LazyStruct | OtherMessage | undefined;

/** Builds its two views of the fields on first use; since types refer to each other as objects, they may be recursive. */
class LazyStruct implements StructType {
  readonly kind = 'struct';
  readonly name: string;
  readonly description: string;
  readonly isKind: boolean;
  readonly groupVersion?: { readonly group: string; readonly version: string };
  readonly mapType?: 'atomic' | 'granular';
  readonly union?: readonly string[];
  readonly #message: MessageDescriptor;
  readonly #resolve: Resolve;
  #fields: ReadonlyMap<string, Field> | undefined;
  #wire: readonly WireField[] | undefined;

  constructor(file: FileDescriptor, message: MessageDescriptor, resolve: Resolve) {
    this.name = `${file.package}.${message.name}`;
    this.description = message.description ?? '';
    this.isKind = message.kind ?? false;
    if (file.group !== undefined) this.groupVersion = { group: file.group, version: file.version ?? '' };
    if (message.struct !== undefined) this.mapType = message.struct;
    if (message.union !== undefined) this.union = message.union;
    this.#message = message;
    this.#resolve = resolve;
  }

  get fields(): ReadonlyMap<string, Field> {
    return (this.#fields ??= this.#buildFields());
  }

  get wire(): readonly WireField[] {
    return (this.#wire ??= this.#buildWire());
  }

  #buildFields(): ReadonlyMap<string, Field> {
    const fields = new Map<string, Field>();
    for (const descriptor of this.#message.fields) {
      const type = typeOf(descriptor, this.#resolve);
      if (descriptor.inline === true && type.kind === 'struct') {
        for (const [name, field] of type.fields) fields.set(name, field);
      } else {
        fields.set(descriptor.name, fieldOf(descriptor, type));
      }
    }
    return fields;
  }

  #buildWire(): readonly WireField[] {
    if (this.#message.jsonOnly === true) return [];
    return this.#message.fields
      .map((field) => ({
        number: field.number,
        name: field.wireName ?? field.name,
        json: field.inline === true ? undefined : field.name,
        type: typeOf(field, this.#resolve),
        pointer: field.pointer ?? false,
      }))
      .sort((a, b) => a.number - b.number);
  }
}

function fieldOf(descriptor: FieldDescriptor, type: TypeRef): Field {
  const pointer = descriptor.pointer ?? false;
  const required = descriptor.required ?? false;
  const embedded = (type.kind === 'struct' || type.kind === 'special') && !pointer;
  return {
    name: descriptor.name,
    type,
    pointer,
    always: required || embedded || (descriptor.always ?? false),
    required,
    retainKeys: descriptor.retainKeys ?? false,
    ...(descriptor.structure === undefined ? {} : { mapType: descriptor.structure }),
    ...(descriptor.patch === undefined ? {} : { patchStrategy: descriptor.patch }),
    ...(descriptor.default === undefined ? {} : { defaultValue: descriptor.default }),
    description: descriptor.description ?? '',
  };
}

function typeOf(descriptor: FieldDescriptor, resolve: Resolve): TypeRef {
  const single = singleType(descriptor, resolve);
  if (descriptor.shape === 'list') return { kind: 'list', items: single, ...listMerge(descriptor) };
  if (descriptor.shape === undefined) return single;
  return { kind: 'map', values: single, ...(descriptor.map === undefined ? {} : { mapType: descriptor.map }) };
}

function listMerge(descriptor: FieldDescriptor): Partial<ListTypeRef> {
  const { list, keys, patch, mergeKey } = descriptor;
  const inferred = patch !== 'merge' ? undefined : mergeKey === undefined ? 'set' : 'map';
  const listType = list ?? inferred;
  const listMapKeys = keys ?? (listType === 'map' && mergeKey !== undefined ? [mergeKey] : undefined);
  return {
    ...(listType === undefined ? {} : { listType }),
    ...(listMapKeys === undefined ? {} : { listMapKeys }),
    ...(patch === undefined ? {} : { patchStrategy: patch }),
    ...(mergeKey === undefined ? {} : { patchMergeKey: mergeKey }),
  };
}

/** The type of a field, or of the items or values of one that is a list or a map. */
function singleType(descriptor: FieldDescriptor, resolve: Resolve): TypeRef {
  if (!descriptor.type.includes('.')) return scalarOf(descriptor);
  const target = resolve(descriptor.type);
  if (target === undefined) throw new Error(`schema: no message ${descriptor.type}`);
  return target instanceof LazyStruct ? target : otherType(target, resolve);
}

function scalarOf({ type, enum: values, list }: FieldDescriptor): ScalarType {
  const scalar = type as ScalarName;
  if (scalar === 'bytes' && list !== undefined) return { ...SCALARS.bytes, listType: list };
  return values === undefined ? SCALARS[scalar] : { kind: 'scalar', scalar, enum: values };
}

const SCALARS: Readonly<Record<ScalarName, ScalarType>> = {
  string: { kind: 'scalar', scalar: 'string' },
  bool: { kind: 'scalar', scalar: 'bool' },
  int32: { kind: 'scalar', scalar: 'int32' },
  int64: { kind: 'scalar', scalar: 'int64' },
  double: { kind: 'scalar', scalar: 'double' },
  bytes: { kind: 'scalar', scalar: 'bytes' },
};

function otherType(other: OtherMessage, resolve: Resolve): TypeRef {
  const form = other.message.jsonForm;
  if (form === undefined) return { kind: 'list', items: SCALARS.string, wrapped: true };
  if (form === 'any') return { kind: 'any' };
  const schema = form.startsWith('JSONSchemaPropsOr') ? resolve(`${other.package}.JSONSchemaProps`) : undefined;
  return { kind: 'special', special: form, ...(schema instanceof LazyStruct ? { schema } : {}) };
}
