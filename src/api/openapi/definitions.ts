import type { GroupVersionKind, JsonObject, JsonValue } from '../object';
import type { Steps } from '../parts';
import { sortInRuns } from '../steps/generated/sort-in-runs';
import type { Field, ScalarName, Schema, SpecialName, SpecialType, StructType, TypeRef } from '../schema/model';
import { customDefinition, type Dialect } from './custom-definition';
import type { Form, Kept, Reference } from './form';
import { capitalize, customDefinitionName, definitionName } from './names';

/** Schemas of custom kinds as their CustomResourceDefinitions state them, by `<group>/<version>/<kind>`. */
export type CustomSchemas = ReadonlyMap<string, JsonObject>;

const META = 'k8s.io.apimachinery.pkg.apis.meta.v1';

/** Stands for a definition that has been referred to and is still to be printed. */
const NOT_YET = Buffer.alloc(0);

/** Served under `v1`, though they live in meta.k8s.io. */
const CORE_KINDS_OF_META: ReadonlySet<string> = new Set([
  'APIGroup',
  'APIGroupList',
  'APIResourceList',
  'APIVersions',
  'Status',
]);

/** Known in every group version. */
const SHARED_KINDS_OF_META: ReadonlySet<string> = new Set(['DeleteOptions', 'WatchEvent']);

/** Descriptions begin with the field's name. Clients look for the first words of these. */
const API_VERSION_FIELD: JsonObject = {
  description: 'APIVersion defines the group and version that the object is written in, such as apps/v1.',
  type: 'string',
};
const KIND_FIELD: JsonObject = {
  description: 'Kind is what sort of object this is, such as Deployment.',
  type: 'string',
};
const METADATA_DESCRIPTION = "metadata: Standard object's metadata, such as name, labels and annotations.";
const LIST_METADATA_DESCRIPTION = 'metadata: Standard list metadata, such as the revision that the list is of.';

/** A large definition is printed in steps. */
type Print = () => Steps<Buffer>;

/** Collects the definitions that a document refers to, each when it is first referred to, printed in the document's form. */
export class DefinitionSet {
  readonly #schema: Schema;
  readonly #custom: CustomSchemas;
  readonly #form: Form;
  readonly #dialect: Dialect;
  readonly #printed = new Map<string, Buffer>();
  readonly #pending: (readonly [name: string, print: Print])[] = [];
  /** What is referred to while something is printed that is kept. */
  #references: Reference[] | undefined;

  constructor(schema: Schema, custom: CustomSchemas, form: Form) {
    this.#schema = schema;
    this.#custom = custom;
    this.#form = form;
    this.#dialect = form.dialect;
  }

  /** A reference to the definition of a kind; a kind without a schema is any object. */
  refToKind(kind: GroupVersionKind): JsonObject {
    this.#references?.push((set) => void (set as DefinitionSet).refToKind(kind));
    const custom = this.#customKind(kind);
    if (custom !== undefined) return custom;
    const struct = this.#schema.kind(kind.group, kind.version, kind.kind);
    return struct === undefined ? { type: 'object' } : this.#refToStruct(struct);
  }

  /** A reference to what stands for a patch of any type. */
  refToPatch(): JsonObject {
    this.#references?.push((set) => void (set as DefinitionSet).refToPatch());
    return this.#ref(definitionName(`${META}.Patch`), () => ({
      description: 'A patch, of the type that Content-Type names.',
      type: 'object',
    }));
  }

  /** A reference to what `/version` answers. */
  refToRelease(): JsonObject {
    this.#references?.push((set) => void (set as DefinitionSet).refToRelease());
    return this.#ref('io.k8s.apimachinery.pkg.version.Info', () => RELEASE);
  }

  /** Whatever the printing refers to, besides what it returns. One at a time: documents are printed one step after another. */
  *recording<Printed>(printing: Steps<Printed>): Steps<Kept<Printed>> {
    const references: Reference[] = (this.#references = []);
    try {
      return { printed: yield* printing, references };
    } finally {
      this.#references = undefined;
    }
  }

  /** Prints all that was referred to, and what that refers to. */
  *print(): Steps<void> {
    for (let next = this.#pending.shift(); next !== undefined; next = this.#pending.shift()) {
      const [name, print] = next;
      this.#printed.set(name, yield* print());
      yield;
    }
  }

  /** Undefined: there is none of this name. */
  printedAs(name: string): Buffer | undefined {
    return this.#printed.get(name);
  }

  add(name: string, printed: Buffer): void {
    this.#printed.set(name, printed);
  }

  /** All that have been printed, by name. */
  *inOrder(): Steps<readonly Buffer[]> {
    const sorted = yield* sortInRuns([...this.#printed], ([a], [b]) => (a < b ? -1 : 1));
    return sorted.map(([, printed]) => printed);
  }

  /** References may be circular: a definition is printed after the one that asked for it. */
  #ref(name: string, build: () => JsonObject): JsonObject {
    return this.#refToPrinted(name, () => this.#form.definition(name, build()));
  }

  /** The definition of a type or schema (`of`) that does not change: printed once in this form. */
  *#printOnce(name: string, of: object, printing: Steps<Buffer>): Steps<Buffer> {
    const kept = this.#form.definitions.get(of);
    if (kept?.name === name) {
      for (const reference of kept.references) reference(this);
      return kept.printed;
    }
    const fresh = yield* this.recording(printing);
    this.#form.definitions.set(of, { name, ...fresh });
    return fresh.printed;
  }

  #refToPrinted(name: string, print: Print): JsonObject {
    if (!this.#printed.has(name)) {
      this.#printed.set(name, NOT_YET);
      this.#pending.push([name, print]);
    }
    return { $ref: `${this.#dialect === 'v2' ? '#/definitions/' : '#/components/schemas/'}${name}` };
  }

  #customKind(kind: GroupVersionKind): JsonObject | undefined {
    const { group, version } = kind;
    const own = this.#custom.get(`${group}/${version}/${kind.kind}`);
    const extension = { 'x-kubernetes-group-version-kind': [{ ...kind }] };
    if (own !== undefined) {
      const name = customDefinitionName(kind);
      return this.#refToPrinted(name, () => this.#printOnce(name, own, this.#printCustom(name, own, extension)));
    }
    const item = kind.kind.endsWith('List') ? kind.kind.slice(0, -'List'.length) : undefined;
    if (item === undefined || !this.#custom.has(`${group}/${version}/${item}`)) return undefined;
    return this.#ref(customDefinitionName(kind), () => ({
      description: `A list of ${item} objects.`,
      type: 'object',
      required: ['items'],
      properties: {
        apiVersion: API_VERSION_FIELD,
        items: {
          description: 'items are the objects of the list.',
          type: 'array',
          items: this.refToKind({ group, version, kind: item }),
        },
        kind: KIND_FIELD,
        metadata: this.#metadata('ListMeta', LIST_METADATA_DESCRIPTION),
      },
      ...extension,
    }));
  }

  *#printCustom(name: string, schema: JsonObject, extension: JsonObject): Steps<Buffer> {
    const common = {
      apiVersion: API_VERSION_FIELD,
      kind: KIND_FIELD,
      metadata: this.#metadata('ObjectMeta', METADATA_DESCRIPTION),
    };
    const definition = yield* customDefinition(schema, this.#dialect, common);
    return yield* this.#form.definition(name, { ...definition, ...extension });
  }

  #metadata(message: string, description: string): JsonObject {
    const struct = this.#schema.message(`${META}.${message}`);
    return struct === undefined ? { type: 'object' } : this.#describe(this.#refToStruct(struct), { description });
  }

  #refToStruct(struct: StructType): JsonObject {
    this.#references?.push((set) => void (set as DefinitionSet).#refToStruct(struct));
    const name = definitionName(struct.name);
    return this.#refToPrinted(name, () => this.#printOnce(name, struct, this.#printStruct(name, struct)));
  }

  *#printStruct(name: string, struct: StructType): Steps<Buffer> {
    return yield* this.#form.definition(name, this.#structDefinition(struct));
  }

  #structDefinition(struct: StructType): JsonObject {
    const fields = [...struct.fields.values()];
    const properties: [string, JsonObject][] = fields.map((field) => [field.name, this.#fieldSchema(field)]);
    if (struct.isKind) properties.push(['apiVersion', API_VERSION_FIELD], ['kind', KIND_FIELD]);
    const required = fields.filter((field) => field.required).map(({ name }) => name);
    const kinds = this.#kindsOf(struct);
    return {
      ...(struct.description === '' ? {} : { description: struct.description }),
      type: 'object',
      ...(required.length === 0 ? {} : { required }),
      ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties.sort(byName)) }),
      ...(struct.mapType === undefined ? {} : { 'x-kubernetes-map-type': struct.mapType }),
      ...(struct.union === undefined ? {} : { 'x-kubernetes-unions': [unionOf(struct.union)] }),
      ...(kinds.length === 0 ? {} : { 'x-kubernetes-group-version-kind': kinds }),
    };
  }

  #kindsOf(struct: StructType): readonly JsonObject[] {
    const kind = shortName(struct);
    if (struct.name.startsWith(`${META}.`)) {
      if (CORE_KINDS_OF_META.has(kind)) return [{ group: '', kind, version: 'v1' }];
      if (SHARED_KINDS_OF_META.has(kind)) {
        return groupVersionsIn(this.#schema).map(({ group, version }) => ({ group, kind, version }));
      }
    }
    if (!struct.isKind || struct.groupVersion === undefined) return [];
    return [{ group: struct.groupVersion.group, kind, version: struct.groupVersion.version }];
  }

  #fieldSchema(field: Field): JsonObject {
    const { description, defaultValue } = field;
    const strategy = [field.patchStrategy, field.retainKeys ? 'retainKeys' : undefined].filter(Boolean).join(',');
    return this.#describe(this.#typeSchema(field.type), {
      ...(description === '' ? {} : { description }),
      ...(defaultValue === undefined ? {} : { default: defaultValue }),
      ...(field.mapType === undefined ? {} : { 'x-kubernetes-map-type': field.mapType }),
      ...(strategy === '' ? {} : { 'x-kubernetes-patch-strategy': strategy }),
    });
  }

  /** Adds to a schema what a field says of it. Beside a $ref, v2 readers take it as well, and v3 has allOf for it. */
  #describe(schema: JsonObject, facts: JsonObject): JsonObject {
    if (schema['$ref'] === undefined || this.#dialect === 'v2') return { ...facts, ...schema };
    return Object.keys(facts).length === 0 ? schema : { ...facts, allOf: [schema] };
  }

  #typeSchema(type: TypeRef): JsonObject {
    switch (type.kind) {
      case 'scalar':
        return {
          ...SCALARS[type.scalar],
          ...(type.enum === undefined ? {} : { enum: [...type.enum].sort() }),
          ...(type.listType === undefined ? {} : { 'x-kubernetes-list-type': type.listType }),
        };
      case 'special':
        return this.#refToSpecial(type);
      case 'list':
        return {
          type: 'array',
          items: this.#typeSchema(type.items),
          ...(type.listType === undefined ? {} : { 'x-kubernetes-list-type': type.listType }),
          ...(type.listMapKeys === undefined ? {} : { 'x-kubernetes-list-map-keys': type.listMapKeys }),
          ...(type.patchMergeKey === undefined ? {} : { 'x-kubernetes-patch-merge-key': type.patchMergeKey }),
        };
      case 'map':
        return {
          type: 'object',
          additionalProperties: this.#typeSchema(type.values),
          ...(type.mapType === undefined ? {} : { 'x-kubernetes-map-type': type.mapType }),
        };
      case 'struct':
        return this.#refToStruct(type);
      case 'any':
        return {};
    }
  }

  #refToSpecial(type: SpecialType): JsonObject {
    this.#references?.push((set) => void (set as DefinitionSet).#refToSpecial(type));
    const definition = SPECIALS[type.special];
    const folder = type.schema === undefined ? definition.package : packageOf(type.schema);
    return this.#ref(definitionName(`${folder}.${type.special}`), () =>
      this.#dialect === 'v3' ? (definition.v3 ?? definition.v2) : definition.v2,
    );
  }
}

export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

function unionOf([discriminator = '', ...fields]: readonly string[]): JsonObject {
  return {
    discriminator,
    'fields-to-discriminateBy': Object.fromEntries(fields.map((field) => [field, capitalize(field)])),
  };
}

const GROUP_VERSIONS = new WeakMap<Schema, readonly GroupVersion[]>();

/** These two are spoken in discovery and metadata only. */
function isApiGroup(group: string): boolean {
  return group !== 'meta.k8s.io' && group !== 'apidiscovery.k8s.io';
}

/** Every group version that the schema knows, in order. */
function groupVersionsIn(schema: Schema): readonly GroupVersion[] {
  const known = GROUP_VERSIONS.get(schema);
  if (known !== undefined) return known;
  const found = new Map<string, GroupVersion>();
  for (const { groupVersion } of schema.messages()) {
    if (groupVersion === undefined || !isApiGroup(groupVersion.group)) continue;
    found.set(`${groupVersion.group}/${groupVersion.version}`, groupVersion);
  }
  const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, groupVersion]) => groupVersion);
  GROUP_VERSIONS.set(schema, sorted);
  return sorted;
}

function byName([a]: readonly [string, JsonValue], [b]: readonly [string, JsonValue]): number {
  return a < b ? -1 : 1;
}

function shortName({ name }: StructType): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

function packageOf(struct: StructType): string {
  return struct.name.slice(0, struct.name.lastIndexOf('.'));
}

const SCALARS: Readonly<Record<ScalarName, JsonObject>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
};

interface SpecialDefinition {
  readonly package: string;
  readonly v2: JsonObject;
  /** Where v3 can say more. */
  readonly v3?: JsonObject;
}

/** What `/version` answers. */
const RELEASE_FIELDS: Readonly<Record<string, string>> = {
  major: 'major is the first number of the release of Kubernetes that is served.',
  minor: 'minor is its second number, with a + where there is more to say.',
  gitVersion: 'gitVersion is the release as people write it, such as v1.21.0.',
  gitCommit: 'gitCommit is the commit that the server was built from.',
  gitTreeState: 'gitTreeState is clean when everything was committed, dirty otherwise.',
  buildDate: 'buildDate is when the server was built.',
  goVersion: 'goVersion names the runtime that the server runs on.',
  compiler: 'compiler names what executes the code of the server.',
  platform: 'platform is the operating system and the architecture that the server runs on.',
};
const RELEASE: JsonObject = {
  description: 'What is served, and by what.',
  type: 'object',
  required: Object.keys(RELEASE_FIELDS),
  properties: Object.fromEntries(
    Object.entries(RELEASE_FIELDS).map(([name, description]) => [name, { description, type: 'string' }]),
  ),
};

const APIEXTENSIONS = 'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1';

function special(folder: string, v2: JsonObject, v3?: JsonObject): SpecialDefinition {
  return { package: folder, v2, ...(v3 === undefined ? {} : { v3 }) };
}

const QUANTITY = 'An amount, as a number with a suffix such as m, k, Mi or e3.';
const INT_OR_STRING = 'A number or a text: a port or its name, a count or a percentage.';

const SPECIALS: Readonly<Record<SpecialName, SpecialDefinition>> = {
  Time: special(META, { description: 'A point in time, in RFC 3339.', type: 'string', format: 'date-time' }),
  MicroTime: special(META, {
    description: 'A point in time, in RFC 3339 with microseconds.',
    type: 'string',
    format: 'date-time',
  }),
  Duration: special(META, { description: 'A span of time, such as 1h30m.', type: 'string' }),
  FieldsV1: special(META, { description: 'A set of fields, as field ownership is recorded.', type: 'object' }),
  Quantity: special(
    'k8s.io.apimachinery.pkg.api.resource',
    { description: QUANTITY, type: 'string' },
    { description: QUANTITY, oneOf: [{ type: 'string' }, { type: 'number' }] },
  ),
  IntOrString: special(
    'k8s.io.apimachinery.pkg.util.intstr',
    { description: INT_OR_STRING, type: 'string', format: 'int-or-string' },
    { description: INT_OR_STRING, format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  ),
  RawExtension: special('k8s.io.apimachinery.pkg.runtime', {
    description: 'An object of a type that the one around it does not know.',
    type: 'object',
  }),
  JSON: special(APIEXTENSIONS, { description: 'Any JSON value.' }),
  JSONSchemaPropsOrArray: special(APIEXTENSIONS, { description: 'A JSON schema, or a list of them.' }),
  JSONSchemaPropsOrBool: special(APIEXTENSIONS, { description: 'A JSON schema, or whether anything is allowed.' }),
  JSONSchemaPropsOrStringArray: special(APIEXTENSIONS, { description: 'A JSON schema, or the names of properties.' }),
};
