import { loadBuiltinSchema } from '../schema/builtin-schema';
import { decodeObject } from '../codec/json-decode';
import { decodeObjectSteps } from '../codec/json-decode-steps';
import { filledInParts } from '../fill-later';
import type { KubeObject } from '../object';
import { take } from '../steps/both-forms.fixture';
import { counted, mostReads } from '../steps/counted.fixture';
import { ROUNDS_BETWEEN_PAUSES } from '../steps/pace';
import { mergeTypeOf } from '../apply/merge-type';
import { customKind, type CustomKind, type CustomKindVersion } from './custom-kind';
import type { CustomResourceDefinition, CustomVersion } from './custom-resource-definition';
import type { JsonSchema } from './json-schema';

const OBJECT_META = loadBuiltinSchema().message('k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta');

function kindOf(versions: readonly Partial<CustomVersion>[], preserveUnknownFields = false): CustomKind {
  const crd: CustomResourceDefinition = {
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: versions.map((version, index) => ({ name: 'v1', served: true, storage: index === 0, ...version })),
      preserveUnknownFields,
    },
  };
  if (OBJECT_META === undefined) throw new Error('the schema has no ObjectMeta');
  return customKind(crd, OBJECT_META);
}

function schemaOf(spec: JsonSchema): Pick<CustomVersion, 'schema'> {
  return { schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } };
}

function only({ versions }: CustomKind): CustomKindVersion {
  const [version] = versions;
  if (version === undefined) throw new Error('no version is served');
  return version;
}

function thing(fields: Readonly<Record<string, unknown>> = {}, apiVersion = 'example.com/v1'): KubeObject {
  return { apiVersion, kind: 'Thing', metadata: { name: 'a' }, ...fields };
}

test('the metadata of an embedded object that is large is read a part at a time, as the object’s own', () => {
  const embedded: JsonSchema = {
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
  };
  const version = only(kindOf([schemaOf(embedded)]));
  const labels = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`key-${index}`, 'v']));
  const sent = thing({ spec: { apiVersion: 'v1', kind: 'A', metadata: { name: 'b', labels, more: 1 } } });
  const options = { applyDefaults: true, collectUnknown: true, kind: 'Thing', version: 'v1' };
  const { result } = take(decodeObjectSteps(version.type, sent, options));
  expect(result).toEqual(decodeObject(version.type, sent, options));
  expect(result.unknownFields).toEqual(['spec.metadata.more']);
  expect(mostReads(decodeObjectSteps(version.type, counted(sent), options))).toBeLessThan(3_000);
});

test('a column of a large value is printed a part at a time, as it would be at once', () => {
  const columns = [{ name: 'All', type: 'string', jsonPath: '.spec' }];
  const version = only(kindOf([{ additionalPrinterColumns: columns }]));
  const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`key-${(index * 7) % 3_000}`, '<']));
  const object = thing({ spec: many });
  const { result, pauses } = take(filledInParts(() => version.table.cells(object, 0)));
  expect(result).toEqual(version.table.cells(object, 0));
  expect(pauses).toBeGreaterThan(3_000 / ROUNDS_BETWEEN_PAUSES);
});

describe('the kind of a definition', () => {
  it('is served in its versions, the preferred one first, without those that are not', () => {
    const { definition } = kindOf([
      { name: 'v1beta1' },
      { name: 'v1' },
      { name: 'v2', served: false },
      { name: 'v2alpha1' },
    ]);
    expect(definition.versions.map(({ version }) => version)).toEqual(['v1', 'v1beta1', 'v2alpha1']);
    expect(definition.storage).toEqual({ group: 'example.com', version: 'v1beta1' });
    expect(definition.storagePrefix).toBe('example.com/things');
  });

  it.each([
    [{ deprecated: true }, 'example.com/v1beta1 Thing is deprecated; use example.com/v1 Thing'],
    [{ deprecated: true, deprecationWarning: 'use v1, please' }, 'use v1, please'],
    [{}, undefined],
  ])('warns of a version that is %j', (input, expected) => {
    const { definition } = kindOf([{ name: 'v1' }, { name: 'v1beta1', ...input }]);
    expect(definition.versions[1]?.deprecationWarning).toBe(expected);
  });

  it('has the subresources of any version, and leaves them out of the others', () => {
    const scale = {
      specReplicasPath: '.spec.size',
      statusReplicasPath: '.status.size',
      labelSelectorPath: '.status.sel',
    };
    const { definition, versions } = kindOf([{ subresources: { status: {}, scale } }, { name: 'v1beta1' }]);
    expect(definition.subresources.map(({ name }) => name)).toEqual(['status', 'scale']);
    expect(versions[1]?.version.withoutSubresources).toEqual(['status', 'scale']);
    expect(definition.subresources[1]?.scale?.specReplicasPath).toEqual(['spec', 'size']);
    expect(definition.subresources[1]?.scale?.selector(thing({ status: { sel: 'a=b' } }))).toBe('a=b');
  });

  it('reads selectable fields as texts', () => {
    const { version } = only(kindOf([{ selectableFields: [{ jsonPath: '.spec.n' }] }]));
    expect(version.selectableFields?.['spec.n']?.(thing({ spec: { n: 7 } }))).toBe('7');
    expect(version.selectableFields?.['spec.n']?.(thing())).toBe('');
  });
});

describe('the body of a custom resource', () => {
  const options = { applyDefaults: true, collectUnknown: true, kind: 'Thing', version: 'v1' };
  const version = only(kindOf([schemaOf({ type: 'object', properties: { a: { type: 'string', default: 'A' } } })]));

  it('is pruned and filled in, and what was unknown is told', () => {
    const sent = { ...thing({ spec: { b: 1 }, top: 1 }), metadata: { name: 'a', odd: 1 } };
    expect(decodeObject(version.type, sent, options)).toEqual({
      object: thing({ spec: { a: 'A' } }),
      unknownFields: ['metadata.odd', 'spec.b', 'top'],
    });
  });

  it.each([
    [{ metadata: 'x' }, /^Thing in version "v1" cannot be handled as a Thing: .*metadata/],
    [{ metadata: { name: 7 } }, /metadata\.name of type string/],
    [{ metadata: { labels: { a: 7 } } }, /metadata\.labels of type string/],
  ])('has metadata of the right types: not %j', (fields, message) => {
    expect(() => decodeObject(version.type, thing(fields), options)).toThrow(message);
  });

  it('keeps everything when the definition says so', () => {
    const open = only(kindOf([schemaOf({ type: 'object' })], true));
    const sent = thing({ spec: { a: { b: null } }, any: [1] });
    expect(decodeObject(open.type, sent, options)).toEqual({ object: sent, unknownFields: [] });
  });

  it('reads columns through filters, and prints what is no text', () => {
    const columns = [
      { name: 'Ready', type: 'string', jsonPath: '.spec.conditions[?(@.type=="Ready")].status ' },
      { name: 'Whole', type: 'string', jsonPath: '.spec' },
      { name: 'Null', type: 'string', jsonPath: '.spec.none' },
      { name: 'Missing', type: 'string', jsonPath: '.spec.conditions[5]' },
    ];
    const { table } = only(kindOf([{ additionalPrinterColumns: columns }]));
    const spec = { none: null, conditions: [{ type: 'Ready', status: 'a<b' }] };
    const whole = '{"conditions":[{"status":"a\\u003cb","type":"Ready"}],"none":null}';
    expect(table.cells(thing({ spec }), 0)).toEqual(['a', 'a<b', whole, '<no value>', null]);
  });

  it('leaves out a column that cannot be read, and those after it', () => {
    const columns = ['.spec.a', '.spec[a', '.spec.b'].map((jsonPath) => ({ name: jsonPath, type: 'string', jsonPath }));
    const { table } = only(kindOf([{ additionalPrinterColumns: columns }]));
    expect(table.columns.map(({ name }) => name)).toEqual(['Name', '.spec.a']);
  });

  it('shows in tables what the columns ask for', () => {
    const additionalPrinterColumns = [
      { name: 'Text', type: 'string', jsonPath: '.spec.s' },
      { name: 'Number', type: 'integer', jsonPath: '.spec.n', priority: 1 },
      { name: 'Flag', type: 'boolean', jsonPath: '.spec.b' },
      { name: 'Born', type: 'date', jsonPath: '.spec.t' },
    ];
    const { table } = only(kindOf([{ additionalPrinterColumns }]));
    const now = Date.parse('2024-01-01T00:01:00Z');
    const cells = (spec: object) => table.cells(thing({ spec }), now);
    expect(table.columns.map(({ name, priority }) => `${name} ${priority}`)).toEqual([
      'Name 0',
      'Text 0',
      'Number 1',
      'Flag 0',
      'Born 0',
    ]);
    expect(cells({ s: 'x', n: 5, b: true, t: '2024-01-01T00:00:00Z' })).toEqual(['a', 'x', 5, true, '60s']);
    expect(cells({ s: { o: 1 }, n: 1.7, b: 'yes', t: 'then' })).toEqual(['a', '{"o":1}', 1, null, '<invalid>']);
    expect(cells({})).toEqual(['a', null, null, null, null]);
  });
});

describe('versions with schemas of their own', () => {
  const text = { type: 'string' };
  const schema = (properties: Readonly<Record<string, JsonSchema>>) => ({
    schema: { openAPIV3Schema: { type: 'object', properties } },
  });
  const { definition } = kindOf([
    { name: 'v1', ...schema({ both: text, old: text }) },
    { name: 'v2', ...schema({ both: text, young: { ...text, default: 'Y' } }) },
    { name: 'v3', ...schema({ both: text, old: text }) },
  ]);
  const versionOf = (name: string) => definition.versions.find(({ version }) => version === name);

  it('show what they know, without defaults, and keep what the stored one knows', () => {
    const stored = thing({ both: 'b', old: 'o' });
    expect(versionOf('v2')?.convert?.fromStorage(stored)).toEqual(thing({ both: 'b' }));
    const sent = thing({ both: 'b', young: 'y' }, 'example.com/v2');
    expect(versionOf('v2')?.convert?.toStorage(sent)).toEqual(thing({ both: 'b', young: 'y' }));
    expect(definition.strategy.canonicalize?.(thing({ both: 'b', young: 'y' }))).toEqual(thing({ both: 'b' }));
  });

  it('that know the same need no conversion', () => {
    expect(versionOf('v3')?.convert).toBeUndefined();
    expect(kindOf([{ name: 'v1' }, { name: 'v2' }]).definition.strategy.canonicalize).toBeUndefined();
  });
});

describe('what is stored of a custom resource', () => {
  const late: JsonSchema = { type: 'object', properties: { late: { type: 'string', default: 'L' } } };

  it('is read in the storage version whatever it was stored in', () => {
    const { decoder } = kindOf([{ name: 'v1' }, { name: 'v1beta1' }]);
    const stored = Buffer.from(JSON.stringify(thing({ spec: 1 }, 'example.com/v1beta1')));
    expect(decoder.decode(stored)).toEqual(thing({ spec: 1 }));
  });

  it('gets the defaults that came later, and loses the fields that are gone', () => {
    const { decoder } = kindOf([schemaOf(late)]);
    expect(decoder.complete?.(thing({ spec: { gone: 1 } }))).toEqual(thing({ spec: { late: 'L' } }));
  });

  it('comes over from another version by its schema and then by that of the storage version', () => {
    const early: JsonSchema = { type: 'object', properties: { early: { type: 'string', default: 'E' }, late: {} } };
    const both: JsonSchema = { ...late, properties: { ...late.properties, early: { type: 'string' } } };
    const { decoder } = kindOf([schemaOf(both), { ...schemaOf(early), name: 'v1beta1' }]);
    const adopted = decoder.adopt!({ apiVersion: 'example.com/v1beta1' })?.(thing({ spec: { gone: 1 } }));
    expect(adopted).toEqual(thing({ spec: { early: 'E', late: 'L' } }));
    expect(decoder.adopt!({ apiVersion: 'example.com/v1' })).toBe(decoder.complete);
  });

  it('is left alone when the schema is open', () => {
    const open: JsonSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    expect(kindOf([{ schema: { openAPIV3Schema: open } }]).decoder.complete).toBeUndefined();
  });
});

describe('the strategy of a custom resource', () => {
  const strict = schemaOf({ type: 'object', properties: { n: { type: 'integer' } } });
  const scale = { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' };

  it('leaves the status to its subresource where there is one', () => {
    const { definition } = kindOf([{ subresources: { status: {} } }, { name: 'v1beta1' }]);
    const requested = (version: string) => ({ requested: { group: 'example.com', version }, now: '' });
    const sent = thing({ spec: {}, status: { a: 1 } });
    expect(definition.strategy.prepareForCreate?.(sent, requested('v1'))).toEqual(thing({ spec: {} }));
    expect(definition.strategy.prepareForCreate?.(sent, requested('v1beta1'))).toEqual(sent);
    const status = definition.subresources[0]?.strategy;
    const written = {
      ...thing({ spec: { x: 1 }, status: { b: 2 }, other: 1 }),
      metadata: { name: 'a', labels: { l: '2' } },
    };
    expect(status?.prepareForUpdate?.(written, sent)).toEqual(thing({ spec: {}, status: { b: 2 } }));
  });

  it('validates by the schema of the version that was sent', () => {
    const { definition } = kindOf([{ name: 'v1', ...strict }, { name: 'v1beta1' }]);
    const object = thing({ spec: { n: 'x' } });
    const errors = (version: string) => definition.strategy.validateCreate?.(object, { group: 'example.com', version });
    expect(errors('v1')).toMatchObject([{ field: 'spec.n' }]);
    expect(errors('v1beta1')).toEqual([]);
  });

  it.each([
    [{ n: 'x' }, '.spec.n: Invalid value: 0: .spec.n accessor error: x is of the type string, expected int64'],
    [{ n: -1 }, '.spec.n: Invalid value: -1: should be a non-negative integer'],
  ])('wants replicas that a scale can show: not %j', (spec, message) => {
    const { definition } = kindOf([{ subresources: { scale } }]);
    const [error] = definition.strategy.validateCreate?.(thing({ spec })) ?? [];
    expect(`${error?.field}: ${error?.message}`).toBe(message);
  });

  it('refuses what a set or a keyed list names twice, unless it did so before', () => {
    const list: JsonSchema = {
      type: 'object',
      properties: {
        set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        map: {
          type: 'array',
          items: { type: 'object', properties: { k: { type: 'string' }, v: { type: 'integer' } } },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
        },
      },
    };
    const { strategy } = kindOf([schemaOf(list)]).definition;
    const twice = thing({ spec: { set: ['a', 'a'], map: [{ k: 'a' }, { k: 'a', v: 2 }] } });
    expect(strategy.validateCreate?.(twice).map(({ field, message }) => `${field}: ${message}`)).toEqual([
      'spec.set[1]: Duplicate value: "a"',
      'spec.map[1]: Duplicate value: map[string]interface {}{"k":"a"}',
    ]);
    expect(strategy.validateUpdate?.(twice, thing({ spec: {} }))).toHaveLength(2);
    expect(strategy.validateUpdate?.(twice, twice)).toEqual([]);
  });

  it('wants embedded objects to be objects of the API', () => {
    const embedded: JsonSchema = { type: 'object', 'x-kubernetes-embedded-resource': true };
    const { strategy } = kindOf([schemaOf({ type: 'object', properties: { e: embedded } })]).definition;
    const fields = (e: object) => strategy.validateCreate?.(thing({ spec: { e } })).map(({ field }) => field);
    expect(fields({})).toEqual(['spec.e.apiVersion', 'spec.e.kind']);
    expect(fields({ apiVersion: 'v1', kind: 'Pod', metadata: { labels: { 'b b': 'x' } } })).toEqual([
      'spec.e.metadata.labels',
    ]);
  });
});

describe('the type that server-side apply sees', () => {
  it('merges lists and maps as the schema is marked', () => {
    const { type } = only(
      kindOf([
        schemaOf({
          type: 'object',
          properties: {
            set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
            plain: { type: 'array', items: { type: 'string' } },
            atom: { type: 'object', additionalProperties: { type: 'string' }, 'x-kubernetes-map-type': 'atomic' },
            port: { 'x-kubernetes-int-or-string': true },
          },
        }),
      ]),
    );
    const root = mergeTypeOf(type);
    const spec = root.kind === 'map' ? root.typeOf('spec') : undefined;
    const field = (name: string) => (spec?.kind === 'map' ? spec.typeOf(name) : undefined);
    expect(field('set')).toMatchObject({ kind: 'list', relation: 'set' });
    expect(field('plain')).toMatchObject({ kind: 'list', relation: 'atomic' });
    expect(field('atom')).toMatchObject({ kind: 'map', atomic: true });
    expect(field('port')).toMatchObject({ kind: 'scalar', scalar: 'untyped' });
    expect(field('unknown')).toBeUndefined();
  });
});
