import { created, problemsOfChange, problemsOfNew, sentAs } from '../kinds/write.fixture';

const metadata = { name: 'things.example.com' };
const v1 = sentAs('apiextensions.k8s.io/v1 CustomResourceDefinition');
const beta = sentAs('apiextensions.k8s.io/v1beta1 CustomResourceDefinition');
const names = { plural: 'things', kind: 'Thing' };

function definition(openAPIV3Schema: object, change: object = {}): object {
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }];
  return { metadata, spec: { group: 'example.com', scope: 'Namespaced', names, versions, ...change } };
}

const plain = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

test('names follow from the kind, and the storage version is noted', () => {
  expect(created(v1, definition(plain))).toMatchObject({
    spec: { names: { ...names, singular: 'thing', listKind: 'ThingList' }, conversion: { strategy: 'None' } },
    status: { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] },
  });
});

test.each<[string, object, readonly string[]]>([
  ['a plain one', {}, []],
  [
    'another group',
    { group: 'other.io' },
    ['metadata.name: Invalid value: "things.example.com": must be spec.names.plural+"."+spec.group'],
  ],
  ['no scope', { scope: '' }, ['spec.scope: Required value']],
  [
    'no schema',
    { versions: [{ name: 'v1', served: true, storage: true }] },
    ['spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required'],
  ],
  [
    'no versions',
    { versions: [] },
    [
      'spec.versions: Invalid value: []apiextensions.CustomResourceDefinitionVersion{}: must have exactly one version marked as storage version',
      'status.storedVersions: Invalid value: []string(nil): must have at least one stored version',
    ],
  ],
  [
    'fields kept for all',
    { preserveUnknownFields: true },
    [
      'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-preserve-unknown-fields to true in spec.versions[*].schema instead',
    ],
  ],
  [
    'fields kept for all beside a default',
    {
      preserveUnknownFields: true,
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { a: { type: 'string', default: 'b' } } } },
        },
      ],
    },
    [
      'spec.preserveUnknownFields: Invalid value: true: must be false in order to use defaults in the schema',
      'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-preserve-unknown-fields to true in spec.versions[*].schema instead',
    ],
  ],
  [
    'a storage version without a name',
    { versions: [{ name: '', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }] },
    [
      "spec.versions[0].name: Invalid value: \"\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [
    'a webhook that is missing',
    { conversion: { strategy: 'Webhook' } },
    [
      'spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook',
      'spec.conversion.conversionReviewVersions: Required value',
    ],
  ],
])('%s', (_name, change, problems) => {
  expect(problemsOfNew(v1, definition(plain, change))).toEqual(problems);
});

test.each<[string, object, string]>([
  ['no type', {}, 'type: Required value: must not be empty for specified object fields'],
  [
    'an unknown type',
    { type: 'x' },
    'type: Unsupported value: "x": supported values: "array", "boolean", "integer", "number", "object", "string"',
  ],
  ['a list without items', { type: 'array' }, 'items: Required value: must be specified'],
  ['a reference', { $ref: '#/definitions/x' }, '$ref: Forbidden: $ref is not supported'],
  ['a reference to nothing', { type: 'string', $ref: '' }, '$ref: Forbidden: $ref is not supported'],
  [
    'a default of another type',
    { type: 'integer', default: 'string' },
    'default: Invalid value: "string":  in body must be of type integer: "string"',
  ],
  [
    'a default that would be pruned',
    { type: 'object', default: { b: 'c' } },
    'default: Invalid value: map[string]interface {}{"b":"c"}: must not have unknown fields',
  ],
  [
    'a pattern that is none',
    { type: 'string', pattern: '(' },
    'pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`',
  ],
  [
    'structure in a condition',
    { type: 'string', allOf: [{ type: 'string' }] },
    'allOf[0].type: Forbidden: must be empty to be structural',
  ],
  [
    'a set of objects',
    { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'set' },
    'items.x-kubernetes-map-type: Invalid value: "null": must be atomic as item of a list with x-kubernetes-list-type=set',
  ],
])('a field of a schema with %s', (_name, field, problem) => {
  expect(problemsOfNew(v1, definition({ type: 'object', properties: { f: field } }))).toEqual([
    `spec.validation.openAPIV3Schema.properties[f].${problem}`,
  ]);
});

test.each<[string, object, readonly string[]]>([
  ['only that unknown fields are kept', { 'x-kubernetes-preserve-unknown-fields': true }, []],
  ['another type', { type: 'string' }, ['.type: Invalid value: "string": must be object at the root']],
  ['null', { type: 'object', nullable: true }, ['.nullable: Forbidden: nullable cannot be true at the root']],
  [
    'a map',
    { type: 'object', additionalProperties: { type: 'string' } },
    ['.additionalProperties: Forbidden: must not be used at the root'],
  ],
  [
    'a default',
    { type: 'object', default: {} },
    ['.default.apiVersion: Required value: must not be empty', '.default.kind: Required value: must not be empty'],
  ],
  [
    'a default of its metadata',
    { type: 'object', properties: { metadata: { type: 'object', default: { name: 'x' } } } },
    ['.properties[metadata].default: Forbidden: must not be set in top-level metadata'],
  ],
  [
    'a default that does not fit inside',
    { type: 'object', properties: { a: { type: 'object', properties: { b: { type: 'string' } }, default: { b: 1 } } } },
    ['.properties[a].default.b: Invalid value: "integer": b in body must be of type string: "integer"'],
  ],
  [
    'a default whose values do not fit',
    {
      type: 'object',
      properties: { a: { type: 'object', additionalProperties: { type: 'string' }, default: { b: 1 } } },
    },
    ['.properties[a].default.b: Invalid value: "integer": .b in body must be of type string: "integer"'],
  ],
  [
    'what is not supported, in which there are further problems',
    {
      type: 'object',
      definitions: { a: { id: 'x' } },
      dependencies: { b: { uniqueItems: true, type: 'string' }, c: ['d'] },
    },
    [
      '.definitions: Forbidden: definitions is not supported',
      '.dependencies: Forbidden: dependencies is not supported',
      '.definitions[a].id: Forbidden: id is not supported',
      '.dependencies[b].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
    ],
  ],
  [
    'a condition on what it does not name',
    { type: 'object', anyOf: [{ properties: { x: { minimum: 1 } } }] },
    ['.properties[x]: Required value: because it is defined in spec.validation.openAPIV3Schema.anyOf[0].properties[x]'],
  ],
])('the root of a schema may say or not say: %s', (_name, schema, problems) => {
  expect(problemsOfNew(v1, definition(schema))).toEqual(
    problems.map((problem) => `spec.validation.openAPIV3Schema${problem}`),
  );
});

test.each<[string, object, readonly string[]]>([
  ['an integer or a text, with a type', { type: 'string', 'x-kubernetes-int-or-string': true }, []],
  [
    'an embedded object that is a text',
    { type: 'string', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    ['.type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true'],
  ],
  [
    'a list by keys that are no scalars, twice',
    {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k', 'k'],
      items: { type: 'object', required: ['k'], properties: { k: { type: 'object', nullable: true } } },
    },
    [
      '.items.properties[k].type: Invalid value: "object": must be a scalar type if parent array\'s x-kubernetes-list-type is map',
      '.items.properties[k].type: Invalid value: "object": must be a scalar type if parent array\'s x-kubernetes-list-type is map',
      '.x-kubernetes-list-map-keys: Invalid value: []string{"k", "k"}: must not contain duplicate entries',
      '.items.properties[k].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
      '.items.properties[k].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
    ],
  ],
  [
    'a set of lists that merge',
    {
      type: 'array',
      'x-kubernetes-list-type': 'set',
      items: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    },
    [
      '.items.x-kubernetes-list-type: Invalid value: "set": must be atomic as item of a list with x-kubernetes-list-type=set',
    ],
  ],
])('a field of a schema may be or not be: %s', (_name, field, problems) => {
  expect(problemsOfNew(v1, definition({ type: 'object', properties: { f: field } }))).toEqual(
    problems.map((problem) => `spec.validation.openAPIV3Schema.properties[f]${problem}`),
  );
});

test('there may be no more defaults than can be filled in at one stretch', () => {
  const schemaOf = (count: number): object => ({
    type: 'object',
    properties: Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`f${index}`, { type: 'string', default: 'x' }]),
    ),
  });
  expect(problemsOfNew(v1, definition(schemaOf(3_000)))).toEqual([]);
  expect(problemsOfNew(v1, definition(schemaOf(3_001)))).toEqual([
    'spec.validation.openAPIV3Schema: Forbidden: must not have more than 3000 defaults',
  ]);
});

test('there may be no more versions and names than discovery can say for each', () => {
  const many = (count: number, make: (index: number) => unknown) => Array.from({ length: count }, (_, i) => make(i));
  const change = (count: number) => ({
    names: { ...names, shortNames: many(count, (i) => `s${i}`), categories: many(count, (i) => `c${i}`) },
    versions: many(2 * count, (i) => ({
      name: `v${i + 1}`,
      served: true,
      storage: i === 0,
      schema: { openAPIV3Schema: plain },
      additionalPrinterColumns: many(count, (n) => ({ name: `n${n}`, type: 'string', jsonPath: `.n${n}` })),
    })),
  });
  expect(problemsOfNew(v1, definition(plain, change(100)))).toEqual([]);
  expect(problemsOfNew(v1, definition(plain, change(101)))).toEqual([
    'spec.versions: Too many: 202: must have at most 200 items',
    'spec.names.shortNames: Too many: 101: must have at most 100 items',
    'spec.names.categories: Too many: 101: must have at most 100 items',
    'spec.additionalPrinterColumns: Too many: 101: must have at most 100 items',
  ]);
});

test('with a status of its own, the root says nothing that the status would miss', () => {
  const versions = [
    {
      name: 'v1',
      served: true,
      storage: true,
      schema: { openAPIV3Schema: { ...plain, minProperties: 1 } },
      subresources: { status: {} },
    },
  ];
  expect(problemsOfNew(v1, definition(plain, { versions })).join()).toMatch(
    /fields are allowed at the root of the schema if the status subresource is enabled/,
  );
});

test('v1beta1 has one schema for all versions, or none, and no defaults in it', () => {
  const spec = { group: 'example.com', names, version: 'v1' };
  expect(problemsOfNew(beta, { metadata, spec })).toEqual([]);
  const openAPIV3Schema = { type: 'object', properties: { a: { type: 'integer', default: 1 } } };
  expect(problemsOfNew(beta, { metadata, spec: { ...spec, validation: { openAPIV3Schema } } })).toEqual([
    'spec.validation.openAPIV3Schema.properties[a].default: Forbidden: must not be set (cannot set default values in apiextensions.k8s.io/v1beta1 CRDs, must use apiextensions.k8s.io/v1)',
  ]);
});

test('what objects are stored by cannot change', () => {
  const old = {
    ...created(v1, definition(plain)),
    status: { conditions: [{ type: 'Established', status: 'True' }], storedVersions: ['v1'] },
  };
  const spec = old['spec' as keyof typeof old] as object;
  expect(problemsOfChange(v1, old, { spec: { ...spec, scope: 'Cluster', group: 'other.io' } })).toEqual([
    'spec.scope: Invalid value: "Cluster": field is immutable',
    'spec.group: Invalid value: "other.io": field is immutable',
  ]);
});

test.each<[string, object, readonly string[]]>([
  ['once', { subresources: { status: {} }, versions: [{ name: 'v1', served: true, storage: true }] }, []],
  [
    'twice',
    {
      subresources: { status: {} },
      versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} } }],
    },
    [
      'spec.subresources: Forbidden: top-level and per-version subresources are mutually exclusive',
      expect.stringContaining('per-version subresources may not all be set to identical values'),
    ],
  ],
  [
    'for each version',
    {
      versions: ['v1', 'v2'].map((name) => ({
        name,
        served: true,
        storage: name === 'v1',
        subresources: { status: {} },
      })),
    },
    [expect.stringContaining('per-version subresources may not all be set to identical values')],
  ],
])('v1beta1 says what all versions have alike %s', (_how, change, problems) => {
  expect(problemsOfNew(beta, { metadata, spec: { group: 'example.com', names, ...change } })).toEqual(problems);
});

test('a schema that is not structural may stay so until fields are pruned by it', () => {
  const validation = { openAPIV3Schema: { properties: { spec: { properties: { a: { type: 'integer' } } } } } };
  const old = created(beta, { metadata, spec: { group: 'example.com', version: 'v1', names, validation } });
  const { spec } = old as unknown as { readonly spec: object };
  expect(problemsOfChange(v1, old, { metadata: { ...metadata, labels: { a: 'b' } } })).toEqual([]);
  expect(problemsOfChange(v1, old, { spec: { ...spec, preserveUnknownFields: false } })).toEqual([
    'spec.validation.openAPIV3Schema.properties[spec].type: Required value: must not be empty for specified object fields',
    'spec.validation.openAPIV3Schema.type: Required value: must not be empty at the root',
  ]);
});

test.each(['.status.conditions[?(@.type=="Ready")].status', '.a[0,1]', '.a ', '.', '.a..b', '.a[', '.$é'])(
  'the path of a column may be whatever starts with a point: %j',
  (jsonPath) => {
    const columns = (path: string): object => ({
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: plain },
          additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: path }],
        },
      ],
    });
    expect(problemsOfNew(v1, definition(plain, columns(jsonPath)))).toEqual([]);
    expect(problemsOfNew(v1, definition(plain, columns(`a${jsonPath}`)))).toHaveLength(1);
  },
);

describe('selectable fields', () => {
  const schema = {
    type: 'object',
    properties: {
      metadata: { type: 'object', properties: { name: { type: 'string' } } },
      spec: {
        type: 'object',
        properties: {
          text: { type: 'string' },
          count: { type: 'integer' },
          list: { type: 'array', items: { type: 'string' } },
          map: { type: 'object', additionalProperties: { type: 'boolean' } },
          ...Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`t${index}`, { type: 'string' }])),
        },
      },
    },
  };
  const selecting = (...paths: readonly string[]): object => {
    const selectableFields = paths.map((jsonPath) => ({ jsonPath }));
    const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, selectableFields };
    return definition({}, { versions: [version] });
  };
  const at = 'spec.versions[0].selectableFields';

  test.each<[string, readonly string[], readonly string[]]>([
    ['texts, numbers and members of maps', ['.spec.text', '.spec.count', '.spec.map.any'], []],
    ['nothing', [''], [`${at}[0].jsonPath: Required value`]],
    [
      'paths that are none',
      ['spec.text', '.spec.list[0]', '.spec.', '.spec.missing', '.spec.text.more'],
      [
        `${at}[0].jsonPath: Invalid value: "spec.text": is an invalid path: expected [ or . but got: spec`,
        `${at}[1].jsonPath: Invalid value: ".spec.list[0]": is an invalid path: array notation is not allowed`,
        `${at}[2].jsonPath: Invalid value: ".spec.": is an invalid path: unexpected end of JSON path`,
        `${at}[3].jsonPath: Invalid value: ".spec.missing": is an invalid path: does not refer to a valid field`,
        `${at}[4].jsonPath: Invalid value: ".spec.text.more": is an invalid path: does not refer to a valid field`,
      ],
    ],
    [
      'fields of metadata, lists, and one twice',
      ['.metadata.name', '.spec.list', '.spec.text', '.spec.text'],
      [
        `${at}[0].jsonPath: Invalid value: ".metadata.name": must not point to fields in metadata`,
        `${at}[1].jsonPath: Invalid value: ".spec.list": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.`,
        `${at}[3].jsonPath: Duplicate value: ".spec.text"`,
      ],
    ],
    [
      'nine',
      Array.from({ length: 9 }, (_, index) => `.spec.t${index}`),
      [`${at}: Too many: 9: must have at most 8 items`],
    ],
  ])('are checked: %s', (_, paths, expected) => {
    expect(problemsOfNew(v1, selecting(...paths))).toEqual(expected);
  });

  test('of v1beta1 may stand there once for all versions', () => {
    const selectableFields = [{ jsonPath: '.spec.text' }];
    const versions = ['v1', 'v2'].map((name, index) => ({ name, served: true, storage: index === 0 }));
    const both = { versions, validation: { openAPIV3Schema: schema }, selectableFields, preserveUnknownFields: false };
    expect(created(beta, definition({}, both))).toMatchObject({
      spec: { versions: [{ selectableFields }, { selectableFields }] },
    });
  });
});
