import { CATALOGUE } from '../kinds/catalogue';
import type { JsonObject, JsonValue } from '../object';
import { atOnce, type Steps } from '../parts';
import { loadBuiltinSchema } from '../schema/builtin-schema';
import { counted, mostReads } from '../steps/counted.fixture';
import type { CustomSchemas } from './definitions';
import { groupVersionsOf } from './discovery-operations';
import { operationsOf } from './operations';
import { printOpenApiV2 } from './v2-document';
import { openApiV2Message, printOpenApiV2Protobuf } from './v2-protobuf';
import { hashSteps } from './print-steps';
import { buildOpenApiV3Index, printOpenApiV3 } from './v3-document';

const schema = loadBuiltinSchema();
const info = { title: 'Kubernetes', version: 'v1.21.0' };
const source = { schema, definitions: CATALOGUE, info };

/** Steps do not wait in a test. */
function printed(steps: Steps<readonly Buffer[]>): Buffer {
  return Buffer.concat(atOnce(steps));
}

function parsed<Parsed = JsonObject>(steps: Steps<readonly Buffer[]>): Parsed {
  return JSON.parse(printed(steps).toString('utf8')) as Parsed;
}

const v2 = parsed<Document>(printOpenApiV2(source));
const groupVersions = groupVersionsOf(CATALOGUE);

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly responses: JsonObject;
  readonly [member: string]: unknown;
}

interface PathItem {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly [method: string]: unknown;
}

interface Document {
  readonly definitions: Readonly<Record<string, JsonObject>>;
  readonly paths: Readonly<Record<string, PathItem>>;
}

function operations(paths: Document['paths']): readonly [string, string, Operation][] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => method !== 'parameters')
      .map(([method, operation]): [string, string, Operation] => [path, method, operation as Operation]),
  );
}

/** Every object in a document, itself among them. */
function* objectsIn(value: unknown): Generator<Readonly<Record<string, unknown>>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>;
  for (const inner of Object.values(value)) yield* objectsIn(inner);
}

function refsIn(value: unknown): readonly string[] {
  const refs = [...objectsIn(value)].flatMap(({ $ref }) => (typeof $ref === 'string' ? [$ref] : []));
  return [...new Set(refs)];
}

function kindsOf(definition: JsonObject | undefined): unknown {
  return definition?.['x-kubernetes-group-version-kind'];
}

describe('the OpenAPI v2 document', () => {
  it('defines all that it refers to, and nothing else', () => {
    const defined = Object.keys(v2.definitions).map((name) => `#/definitions/${name}`);
    expect([...refsIn(v2)].sort()).toEqual(defined.sort());
  });

  it.each(CATALOGUE.flatMap(({ kind, versions }) => versions.map(({ group, version }) => [group, version, kind])))(
    'knows %s/%s %s by its group, version and kind',
    (group, version, kind) => {
      const found = Object.values(v2.definitions).filter((definition) =>
        ((kindsOf(definition) ?? []) as readonly JsonObject[]).some(
          (gvk) => gvk['group'] === group && gvk['version'] === version && gvk['kind'] === kind,
        ),
      );
      expect(found).toHaveLength(1);
      expect(found[0]).toMatchObject({ type: 'object', properties: { apiVersion: { type: 'string' } } });
    },
  );

  it('has operations with ids of their own, whose paths declare their parameters', () => {
    const all = operations(v2.paths);
    expect(new Set(all.map(([, , { operationId }]) => operationId)).size).toBe(all.length);
    for (const [path, item] of Object.entries(v2.paths)) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = (item.parameters ?? []).filter((parameter) => parameter.in === 'path').map(({ name }) => name);
      expect(declared.sort()).toEqual(inPath.sort());
    }
  });

  it('names operations as generated clients know them', () => {
    const ids = new Set(operations(v2.paths).map(([, , { operationId }]) => operationId));
    for (const id of [
      'listCoreV1PodForAllNamespaces',
      'listCoreV1NamespacedPod',
      'createAppsV1NamespacedDeployment',
      'readCoreV1NamespacedPodLog',
      'replaceAppsV1NamespacedDeploymentScale',
      'patchRbacAuthorizationV1ClusterRole',
      'deleteCoreV1CollectionNamespacedConfigMap',
      'connectCoreV1GetNamespacedPodExec',
      'connectCoreV1PostNodeProxyWithPath',
      'createAuthorizationV1SubjectAccessReview',
      'watchCoreV1PodListForAllNamespaces',
      'watchAppsV1NamespacedDeploymentList',
      'watchAppsV1NamespacedDeployment',
      'watchCoreV1Node',
      'watchCoreV1NodeList',
      'connectCoreV1HeadNamespacedPodProxy',
      'getAppsAPIGroup',
      'getAppsV1APIResources',
      'getCoreAPIVersions',
      'getCodeVersion',
    ]) {
      expect(ids).toContain(id);
    }
  });

  it('tells kubectl what each kind can be asked for', () => {
    const patch = v2.paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}']?.['patch'] as Operation;
    expect(patch['x-kubernetes-group-version-kind']).toEqual({ group: 'apps', version: 'v1', kind: 'Deployment' });
    expect(patch.parameters?.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['body', 'dryRun', 'fieldManager', 'fieldValidation', 'force']),
    );
  });

  it('tells how lists are merged', () => {
    const podSpec = v2.definitions['io.k8s.api.core.v1.PodSpec'];
    expect(podSpec).toMatchObject({
      required: ['containers'],
      properties: {
        containers: {
          type: 'array',
          'x-kubernetes-patch-merge-key': 'name',
          'x-kubernetes-patch-strategy': 'merge',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
        },
        volumes: { 'x-kubernetes-patch-strategy': 'merge,retainKeys' },
      },
    });
    expect(v2.definitions['io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceSpec']).toMatchObject({
      properties: { caBundle: { type: 'string', format: 'byte', 'x-kubernetes-list-type': 'atomic' } },
    });
    expect(v2.definitions['io.k8s.apimachinery.pkg.util.intstr.IntOrString']).toMatchObject({
      type: 'string',
      format: 'int-or-string',
    });
  });

  it.each(['DeleteOptions', 'WatchEvent'])('lists %s under every group version', (kind) => {
    const listed = kindsOf(v2.definitions[`io.k8s.apimachinery.pkg.apis.meta.v1.${kind}`]);
    expect(listed).toEqual(
      expect.arrayContaining(groupVersions.map(({ group, version }) => ({ group, kind, version }))),
    );
    expect(listed).toContainEqual({ group: 'admission.k8s.io', kind, version: 'v1' });
  });

  it.each([
    ['/api/v1/watch/pods', 'watchlist', []],
    ['/api/v1/watch/namespaces/{namespace}/pods', 'watchlist', ['namespace']],
    ['/api/v1/watch/namespaces/{namespace}/pods/{name}', 'watch', ['name', 'namespace']],
    ['/apis/storage.k8s.io/v1/watch/storageclasses', 'watchlist', []],
    ['/apis/storage.k8s.io/v1/watch/storageclasses/{name}', 'watch', ['name']],
  ])('has the stream %s', (path, action, inPath) => {
    const item = v2.paths[path];
    expect(item?.['get']).toMatchObject({
      produces: expect.arrayContaining(['application/json;stream=watch']) as unknown,
      responses: { '200': { schema: { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent' } } },
      'x-kubernetes-action': action,
    });
    expect(item?.['get']).not.toHaveProperty('parameters');
    const names = item?.parameters?.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining([...inPath, 'resourceVersion', 'timeoutSeconds', 'watch']));
  });

  it('has the streams of all built-in kinds that can be watched', () => {
    for (const { kind, resource, namespaced, verbs, versions } of CATALOGUE) {
      for (const served of versions) {
        if (!(served.verbs ?? verbs).includes('watch')) continue;
        const prefix = served.group === '' ? '/api/v1' : `/apis/${served.group}/${served.version}`;
        const { get } = v2.paths[`${prefix}/watch/${resource}`] ?? {};
        const { group, version } = served;
        expect(get).toMatchObject({ 'x-kubernetes-group-version-kind': { group, version, kind } });
        expect(v2.paths).toHaveProperty([
          `${prefix}/watch/${namespaced ? 'namespaces/{namespace}/' : ''}${resource}/{name}`,
        ]);
      }
    }
  });

  it('says of a path what all its operations take, and of an operation the rest, by name', () => {
    const item = v2.paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}'];
    expect(item?.parameters?.map(({ name }) => name)).toEqual(['name', 'namespace', 'pretty']);
    const names = (method: string) => (item?.[method] as Operation).parameters?.map(({ name }) => name);
    expect(names('delete')).toEqual(['body', 'dryRun', 'gracePeriodSeconds', 'orphanDependents', 'propagationPolicy']);
    expect(names('get')).toBeUndefined();
  });

  it('describes discovery', () => {
    const response = (path: string): unknown => (v2.paths[path]?.['get'] as Operation).responses['200'];
    const meta = '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1';
    expect(response('/api/')).toMatchObject({ schema: { $ref: `${meta}.APIVersions` } });
    expect(response('/apis/')).toMatchObject({ schema: { $ref: `${meta}.APIGroupList` } });
    expect(response('/apis/apps/')).toMatchObject({ schema: { $ref: `${meta}.APIGroup` } });
    expect(response('/apis/apps/v1/')).toMatchObject({ schema: { $ref: `${meta}.APIResourceList` } });
    expect(response('/version/')).toMatchObject({
      schema: { $ref: '#/definitions/io.k8s.apimachinery.pkg.version.Info' },
    });
  });

  it.each([
    ['apps.v1.StatefulSetSpec', ['selector', 'template', 'serviceName']],
    ['apps.v1.ControllerRevision', ['revision']],
    ['authentication.v1.TokenRequestStatus', ['token', 'expirationTimestamp']],
    ['core.v1.Event', ['metadata', 'involvedObject']],
    ['core.v1.HostAlias', undefined],
    ['networking.v1.HTTPIngressPath', ['backend']],
    ['networking.v1.NetworkPolicySpec', ['podSelector']],
    ['rbac.v1.RoleRef', ['apiGroup', 'kind', 'name']],
    ['scheduling.v1.PriorityClass', ['value']],
  ])('requires of %s what kube-apiserver requires, in its order', (name, required) => {
    expect(v2.definitions[`io.k8s.api.${name}`]?.['required']).toEqual(required);
  });

  it('describes every field of every definition by a sentence that begins with its name', () => {
    const wrong = Object.entries(v2.definitions).flatMap(([name, { properties }]) =>
      Object.entries((properties ?? {}) as Record<string, { readonly description?: string }>)
        .filter(([field, { description = '' }]) => !description.toLowerCase().startsWith(field.toLowerCase()))
        .map(([field]) => `${name}.${field}`),
    );
    expect(wrong).toEqual([]);
    const meta = v2.definitions['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta']?.['properties'] as JsonObject;
    expect(meta['creationTimestamp']).toMatchObject({
      description: expect.stringMatching(/^CreationTimestamp is a timestamp/) as unknown,
    });
  });

  it('says which field tells the variants of a union', () => {
    expect(v2.definitions['io.k8s.api.core.v1.SeccompProfile']).toMatchObject({
      'x-kubernetes-unions': [
        { discriminator: 'type', 'fields-to-discriminateBy': { localhostProfile: 'LocalhostProfile' } },
      ],
    });
  });

  it('has its definitions, paths and parameters again in its Protobuf form', () => {
    const type = openApiV2Message();
    const message = type.toObject(type.decode(printed(printOpenApiV2Protobuf(source))), { longs: Number });
    const read = message as unknown as DocumentMessage;
    expect(unname(read.definitions.additionalProperties, readSchema)).toEqual(v2.definitions);
    const ids = read.paths.path.flatMap(({ name, value }) =>
      Object.entries(value).flatMap(([method, operation]) =>
        method === 'parameters' ? [] : [[name, method, (operation as { operationId: string }).operationId]],
      ),
    );
    expect(ids.sort()).toEqual(
      operations(v2.paths)
        .map(([path, method, { operationId }]) => [path, method, operationId])
        .sort(),
    );
    const item = read.paths.path.find(({ name }) => name === '/api/v1/namespaces/{namespace}/pods')?.value;
    expect(item?.parameters[0]).toEqual({
      parameter: {
        nonBodyParameter: { pathParameterSubSchema: expect.objectContaining({ name: 'namespace', type: 'string' }) },
      },
    });
  });
});

interface Named {
  readonly name: string;
  readonly value: JsonObject;
}

interface DocumentMessage {
  readonly definitions: { readonly additionalProperties: readonly Named[] };
  readonly paths: {
    readonly path: readonly {
      readonly name: string;
      readonly value: { readonly parameters: readonly unknown[]; readonly [method: string]: unknown };
    }[];
  };
}

function unname(list: readonly Named[], read: (value: JsonObject) => JsonObject): JsonObject {
  return Object.fromEntries(list.map(({ name, value }) => [name, read(value)]));
}

function fromYaml(value: JsonValue | undefined): JsonValue {
  return JSON.parse((value as { readonly yaml: string }).yaml) as JsonValue;
}

/** A schema back from its message. */
function readSchema(message: JsonObject): JsonObject {
  const {
    _ref,
    type,
    default: fallback,
    enum: values,
    items,
    properties,
    additionalProperties,
    vendorExtension,
    ...rest
  } = message as Record<string, JsonObject> & {
    readonly enum?: readonly JsonValue[];
    readonly vendorExtension?: readonly Named[];
  };
  return {
    ...rest,
    ...(_ref === undefined ? {} : { $ref: _ref }),
    ...(type === undefined ? {} : { type: (type['value'] as readonly string[])[0] }),
    ...(fallback === undefined ? {} : { default: fromYaml(fallback) }),
    ...(values === undefined ? {} : { enum: values.map(fromYaml) }),
    ...(items === undefined ? {} : { items: readSchema((items['schema'] as readonly JsonObject[])[0] ?? {}) }),
    ...(properties === undefined
      ? {}
      : { properties: unname(properties['additionalProperties'] as unknown as readonly Named[], readSchema) }),
    ...(additionalProperties === undefined
      ? {}
      : {
          additionalProperties:
            additionalProperties['boolean'] ?? readSchema(additionalProperties['schema'] as JsonObject),
        }),
    ...Object.fromEntries((vendorExtension ?? []).map(({ name, value }) => [name, fromYaml(value)])),
  };
}

describe('the OpenAPI v3 documents', () => {
  it.each(groupVersions)('of $group/$version define all that they refer to', (groupVersion) => {
    const document = parsed(printOpenApiV3(source, groupVersion));
    const schemas = (document['components'] as JsonObject)['schemas'] as JsonObject;
    expect([...refsIn(document)].sort()).toEqual(
      Object.keys(schemas)
        .map((name) => `#/components/schemas/${name}`)
        .sort(),
    );
    const ofKinds = operationsOf(
      schema,
      CATALOGUE,
      (group, version) => group === groupVersion.group && version === groupVersion.version,
    );
    // Besides, the list of the kinds.
    expect(operations(document['paths'] as unknown as Document['paths'])).toHaveLength(ofKinds.length + 1);
  });

  it('say beside a reference what a field adds to it', () => {
    const document = parsed(printOpenApiV3(source, { group: 'apps', version: 'v1' }));
    expect(document).toMatchObject({
      components: {
        schemas: {
          'io.k8s.api.apps.v1.DeploymentSpec': {
            properties: {
              strategy: {
                allOf: [{ $ref: '#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy' }],
                'x-kubernetes-patch-strategy': 'retainKeys',
              },
            },
          },
          'io.k8s.apimachinery.pkg.api.resource.Quantity': { oneOf: [{ type: 'string' }, { type: 'number' }] },
        },
      },
    });
  });

  it('are listed with a hash of each', () => {
    const hash = atOnce(hashSteps([Buffer.from('{'), Buffer.from('}')]));
    expect(hash).toMatch(/^[0-9A-F]{128}$/);
    expect(
      buildOpenApiV3Index([
        { group: '', version: 'v1', hash },
        { group: 'apps', version: 'v1', hash },
      ]),
    ).toEqual({
      paths: {
        'api/v1': { serverRelativeURL: `/openapi/v3/api/v1?hash=${hash}` },
        'apis/apps/v1': { serverRelativeURL: `/openapi/v3/apis/apps/v1?hash=${hash}` },
      },
    });
  });
});

describe('custom kinds', () => {
  const configMap = CATALOGUE.find(({ kind }) => kind === 'ConfigMap');
  if (configMap === undefined) throw new Error('no ConfigMap');
  const group = 'stable.example.com';
  const definitions = [
    { ...configMap, kind: 'CronTab', resource: 'crontabs', subresources: [], versions: [{ group, version: 'v1' }] },
  ];
  const custom: CustomSchemas = new Map([
    [
      `${group}/v1/CronTab`,
      {
        type: 'object',
        description: 'A table of times.',
        properties: {
          spec: {
            type: 'object',
            required: ['image'],
            properties: {
              image: { type: 'string', default: 'busybox', pattern: '^[a-z]+$' },
              note: { type: 'string', nullable: true },
              port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
              extra: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: {} } },
            },
          },
        },
      },
    ],
  ]);

  it('are published in v2 without what v2 cannot say', () => {
    const document = parsed<Document>(printOpenApiV2({ schema, definitions, info, custom }));
    expect(document.definitions['com.example.stable.v1.CronTab']).toMatchObject({
      description: 'A table of times.',
      'x-kubernetes-group-version-kind': [{ group, version: 'v1', kind: 'CronTab' }],
    });
    expect(document.definitions['com.example.stable.v1.CronTab']?.['properties']).toEqual({
      apiVersion: { type: 'string', description: expect.stringMatching(/^APIVersion defines /) as unknown },
      kind: { type: 'string', description: expect.stringMatching(/^Kind is /) as unknown },
      metadata: {
        $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
        description: expect.stringMatching(/^metadata: Standard object's metadata/) as unknown,
      },
      spec: {
        type: 'object',
        required: ['image'],
        properties: {
          image: { type: 'string', pattern: '^[a-z]+$' },
          note: {},
          port: { 'x-kubernetes-int-or-string': true },
          extra: { 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    });
    expect(document.definitions['com.example.stable.v1.CronTabList']).toMatchObject({
      properties: { items: { items: { $ref: '#/definitions/com.example.stable.v1.CronTab' } } },
    });
    const item = document.paths['/apis/stable.example.com/v1/namespaces/{namespace}/crontabs/{name}'];
    expect((item?.['patch'] as Operation)['consumes']).not.toContain('application/strategic-merge-patch+json');
    expect((item?.['get'] as Operation)['produces']).toEqual(['application/json', 'application/yaml']);
    expect(Object.keys(document.paths).filter((path) => path.includes(group) && path.includes('/watch/'))).toEqual([]);
  });

  it('are published in v3 as they were defined', () => {
    const document = parsed(printOpenApiV3({ schema, definitions, info, custom }, { group, version: 'v1' }));
    expect(document).toMatchObject({
      components: {
        schemas: {
          'com.example.stable.v1.CronTab': {
            properties: { spec: { properties: { image: { default: 'busybox' }, note: { nullable: true } } } },
          },
        },
      },
    });
  });
});

describe('a large custom kind', () => {
  const group = 'large.example.com';
  const configMap = CATALOGUE.find(({ kind }) => kind === 'ConfigMap')!;
  const kind = { ...configMap, kind: 'Large', resource: 'larges', subresources: [] };
  const definitions = [{ ...kind, versions: [{ group, version: 'v1' }] }];
  const COUNT = 3_000;
  const many = (property: JsonObject): JsonObject =>
    Object.fromEntries(Array.from({ length: COUNT }, (_, index) => [`p${index}`, property]));
  const own = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: many({ type: 'string', description: 'A text.', nullable: true }),
        required: ['p1'],
      },
      list: { type: 'array', items: { type: 'object', properties: many({ type: 'integer', default: 1 }) } },
      map: { type: 'object', additionalProperties: { type: 'object', properties: many({ type: 'boolean' }) } },
      open: { type: 'object', additionalProperties: true, 'x-kubernetes-map-type': 'atomic' },
    },
  };
  const sourceOf = (schemaOfKind: JsonObject) => ({
    schema,
    definitions,
    info,
    custom: new Map([[`${group}/v1/Large`, schemaOfKind]]),
  });
  const name = 'com.example.large.v1.Large';

  it('is published in v3 as it was defined', () => {
    const document = parsed(printOpenApiV3(sourceOf(own), { group, version: 'v1' }));
    expect(document).toMatchObject({ components: { schemas: { [name]: own } } });
  });

  it('is the same in both forms of v2', () => {
    const definitionsInJson = parsed<Document>(printOpenApiV2(sourceOf(own))).definitions;
    expect(definitionsInJson[name]).toMatchObject({
      properties: {
        spec: { type: 'object', properties: many({ description: 'A text.' }) },
        list: { type: 'array', items: { type: 'object', properties: many({ type: 'integer' }) } },
      },
    });
    const type = openApiV2Message();
    const message = type.toObject(type.decode(printed(printOpenApiV2Protobuf(sourceOf(own)))), { longs: Number });
    const read = message as unknown as DocumentMessage;
    expect(unname(read.definitions.additionalProperties, readSchema)).toEqual(definitionsInJson);
  });

  it.each<[string, (own: JsonObject) => Steps<unknown>]>([
    ['v2', (one) => printOpenApiV2(sourceOf(one))],
    ['v2 in Protobuf', (one) => printOpenApiV2Protobuf(sourceOf(one))],
    ['v3', (one) => printOpenApiV3(sourceOf(one), { group, version: 'v1' })],
  ])('is printed in %s a part at a time', (_, print) => {
    const once = counted(own as JsonObject);
    const most = mostReads(print(once));
    expect(most).toBeGreaterThan(0);
    // Of some tens of thousands: a list of all names is made at once, and looked through for what is large.
    expect(most).toBeLessThan(3 * COUNT);
  });
});

it.each<[string, (inner: JsonObject) => JsonObject]>([
  ['properties', (inner) => ({ type: 'object', properties: { a: inner } })],
  ['lists', (inner) => ({ type: 'array', items: inner })],
  ['maps', (inner) => ({ type: 'object', additionalProperties: inner })],
])('a definition is told in Protobuf however deep its %s are', (_, around) => {
  let schema: JsonObject = { type: 'string', description: 'the-innermost' };
  for (let level = 0; level < 300; level++) schema = around(schema);
  const configMap = CATALOGUE.find(({ kind }) => kind === 'ConfigMap')!;
  const definition = { ...configMap, kind: 'Deep', resource: 'deeps', versions: [{ group: 'deep.io', version: 'v1' }] };
  const custom = new Map([['deep.io/v1/Deep', { type: 'object', properties: { spec: schema } }]]);
  const document = printed(printOpenApiV2Protobuf({ ...source, definitions: [definition], custom }));
  expect(document.includes('the-innermost')).toBe(true);
});

describe('a document that is made again', () => {
  const group = 'stable.example.com';
  const configMap = CATALOGUE.find(({ kind }) => kind === 'ConfigMap')!;
  const kind = { ...configMap, kind: 'CronTab', resource: 'crontabs', subresources: [] };
  const version = (description: string) => ({
    ...source,
    definitions: [...CATALOGUE, { ...kind, versions: [{ group, version: 'v1' }] }],
    custom: new Map([[`${group}/v1/CronTab`, { type: 'object', description }]]),
  });

  it.each([
    ['v2', printOpenApiV2],
    ['v2 in Protobuf', printOpenApiV2Protobuf],
  ])('is %s of what is served then', (_, print) => {
    const first = printed(print(version('the-former')));
    expect(first.includes('the-former')).toBe(true);
    const second = printed(print(version('the-latter')));
    expect(second.includes('the-former')).toBe(false);
    expect(second.includes('the-latter')).toBe(true);
    expect(printed(print(version('the-former'))).equals(first)).toBe(true);
    expect(printed(print(source)).includes('CronTab')).toBe(false);
  });

  it('prints anew only what has changed', () => {
    const print = jest.spyOn(JSON, 'stringify');
    printed(printOpenApiV2(source));
    print.mockClear();
    printed(printOpenApiV2(version('changed')));
    // Of the new kind its paths, definition and list; the kinds that stand in all groups; the document's own members.
    const count = print.mock.calls.length;
    print.mockRestore();
    expect(count).toBeGreaterThan(5);
    expect(count).toBeLessThan(60);
  });

  it('can be interrupted after each path and definition', () => {
    const steps = printOpenApiV3(source, { group: 'apps', version: 'v1' });
    let count = 0;
    while (steps.next().done !== true) count++;
    expect(count).toBeGreaterThan(100);
  });
});
