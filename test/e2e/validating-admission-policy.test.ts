import { startApiServer } from '../../src';
import { clientOfOwnServer, RawClient } from '../support/raw-client';
import { until } from '../support/until';

/** ValidatingAdmissionPolicies and their bindings, from the policy to the refusal. */

const client = clientOfOwnServer();
const GROUP = '/apis/admissionregistration.k8s.io/v1';
const MAPS = '/api/v1/namespaces/default/configmaps';

const post = (path: string, object: object) => client.send('POST', path, JSON.stringify(object));

const ON_CONFIG_MAPS = {
  resourceRules: [
    { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] },
  ],
};

async function policy(name: string, spec: object, binding: object = { validationActions: ['Deny'] }): Promise<void> {
  const made = await post(`${GROUP}/validatingadmissionpolicies`, {
    metadata: { name },
    spec: { matchConstraints: ON_CONFIG_MAPS, ...spec },
  });
  expect({ status: made.status, message: made.body.message }).toEqual({ status: 201, message: undefined });
  const bound = await post(`${GROUP}/validatingadmissionpolicybindings`, {
    metadata: { name: `${name}-everywhere` },
    spec: { policyName: name, ...binding },
  });
  expect({ status: bound.status, message: bound.body.message }).toEqual({ status: 201, message: undefined });
}

async function withoutPolicy(name: string): Promise<void> {
  await client.send('DELETE', `${GROUP}/validatingadmissionpolicybindings/${name}-everywhere`);
  await client.send('DELETE', `${GROUP}/validatingadmissionpolicies/${name}`);
}

const map = (name: string, data: object, labels: object = {}) => ({ metadata: { name, labels }, data });
const dryRun = `${MAPS}?dryRun=All`;

it('a request that a policy denies is refused in its words, and another passes', async () => {
  await policy('sizes', {
    variables: [{ name: 'size', expression: "'size' in object.data ? int(object.data.size) : 0" }],
    matchConditions: [
      { name: 'not-exempt', expression: "!has(object.metadata.labels) || !('exempt' in object.metadata.labels)" },
    ],
    validations: [
      {
        expression: 'variables.size <= 10',
        messageExpression: "'size is ' + string(variables.size)",
        reason: 'Forbidden',
      },
    ],
  });
  const refused = await until(
    () => post(dryRun, map('a', { size: '11' })),
    ({ status }) => status !== 201,
  );
  expect(refused.status).toBe(403);
  expect(refused.body.message).toBe(
    `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'sizes' with binding 'sizes-everywhere' denied request: size is 11`,
  );
  expect((await post(dryRun, map('a', { size: '10' }))).status).toBe(201);
  expect((await post(dryRun, map('a', { size: '11' }, { exempt: 'yes' }))).status).toBe(201);
  await withoutPolicy('sizes');
});

it('an expression that has no value counts as the failurePolicy says', async () => {
  await policy('failing', { validations: [{ expression: "object.data.missing == 'x'" }] });
  const refused = await until(
    () => post(dryRun, map('b', { a: '1' })),
    ({ status }) => status !== 201,
  );
  expect(refused.status).toBe(422);
  expect(refused.body.message).toContain(
    `expression 'object.data.missing == 'x'' resulted in error: no such key: missing`,
  );
  await withoutPolicy('failing');
});

it('a binding that warns lets the request pass', async () => {
  await policy(
    'warning',
    { validations: [{ expression: 'false', message: 'think again' }] },
    { validationActions: ['Warn'] },
  );
  const passed = await until(
    () => post(dryRun, map('c', {})),
    ({ warning }) => warning !== '',
  );
  expect(passed.status).toBe(201);
  expect(passed.warning).toContain(
    "Validation failed for ValidatingAdmissionPolicy 'warning' with binding 'warning-everywhere': think again",
  );
  await withoutPolicy('warning');
});

it('parameters come from the objects that the binding names', async () => {
  await post(MAPS, map('limits', { allowed: 'blue' }));
  await policy(
    'coloured',
    {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConditions: [{ name: 'coloured', expression: "'colour' in object.data" }],
      validations: [{ expression: 'object.data.colour == params.data.allowed' }],
    },
    {
      validationActions: ['Deny'],
      paramRef: { name: 'limits', namespace: 'default', parameterNotFoundAction: 'Deny' },
    },
  );
  const refused = await until(
    () => post(dryRun, map('d', { colour: 'red' })),
    ({ status }) => status !== 201,
  );
  expect(refused.body.message).toContain('failed expression: object.data.colour == params.data.allowed');
  expect((await post(dryRun, map('d', { colour: 'blue' }))).status).toBe(201);
  await withoutPolicy('coloured');
});

it('an expression may ask the authorizers, and see who makes the request', async () => {
  await policy('asking', {
    validations: [
      {
        expression:
          "authorizer.group('').resource('configmaps').namespace('default').check('create').allowed() && " +
          "!authorizer.serviceAccount('default', 'nobody').group('').resource('secrets').check('get').allowed() && " +
          "request.userInfo.username != '' && request.operation == 'CREATE'",
      },
      { expression: "namespaceObject.metadata.name == 'elsewhere'", message: 'seen' },
    ],
  });
  const refused = await until(
    () => post(dryRun, map('e', {})),
    ({ status }) => status !== 201,
  );
  expect(refused.body.message).toContain('denied request: seen');
  await withoutPolicy('asking');
});

it('a policy whose expressions cannot be compiled is refused', async () => {
  const { status, body } = await post(`${GROUP}/validatingadmissionpolicies`, {
    metadata: { name: 'broken' },
    spec: { matchConstraints: ON_CONFIG_MAPS, validations: [{ expression: 'params.x > 1' }, { expression: "'text'" }] },
  });
  expect(status).toBe(422);
  expect(body.message).toContain("undeclared reference to 'params' (in container '')");
  expect(body.message).toContain('spec.validations[1].expression: Invalid value: "\'text\'": must evaluate to bool');
});

it('a binding without the parameters that it must have refuses, whatever is to be done about failures', async () => {
  const spec = { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' }, validations: [{ expression: 'true' }] };
  const paramRef = { name: 'absent', namespace: 'default', parameterNotFoundAction: 'Deny' };
  await policy('unbound', spec, { validationActions: ['Audit'], paramRef });
  const refused = await until(
    () => post(dryRun, map('g', {})),
    ({ status }) => status !== 201,
  );
  expect(refused.body.message).toContain(
    'denied request: failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
  );
  await withoutPolicy('unbound');
});

it('a binding cannot look for parameters of the whole cluster in a namespace', async () => {
  const spec = { paramKind: { apiVersion: 'v1', kind: 'Namespace' }, validations: [{ expression: 'true' }] };
  const paramRef = { name: 'default', namespace: 'default', parameterNotFoundAction: 'Allow' };
  await policy('misplaced', spec, { validationActions: ['Deny'], paramRef });
  const refused = await until(
    () => post(dryRun, map('j', {})),
    ({ status }) => status !== 201,
  );
  expect(refused.body.message).toContain('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  await withoutPolicy('misplaced');
});

it('a policy whose annotation has no value refuses, unless failures are ignored', async () => {
  const spec = { auditAnnotations: [{ key: 'k', valueExpression: 'string(object.data.missing)' }] };
  await policy('annotating', spec);
  const refused = await until(
    () => post(dryRun, map('h', { a: '1' })),
    ({ status }) => status !== 201,
  );
  expect(refused.body.message).toContain(
    "expression 'string(object.data.missing)' resulted in error: no such key: missing",
  );
  await withoutPolicy('annotating');
});

it('policies of v1beta1 act like those of v1 where they are served', async () => {
  await using server = await startApiServer({
    flags: { 'runtime-config': { 'admissionregistration.k8s.io/v1beta1': true } },
  });
  const own = new RawClient(server);
  const beta = GROUP.replace('/v1', '/v1beta1');
  const name = 'older';
  const made = await own.send(
    'POST',
    `${beta}/validatingadmissionpolicies`,
    JSON.stringify({
      apiVersion: 'admissionregistration.k8s.io/v1beta1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: { matchConstraints: ON_CONFIG_MAPS, validations: [{ expression: 'false' }] },
    }),
  );
  expect({ status: made.status, warning: made.warning, spec: made.body['spec'] }).toMatchObject({
    status: 201,
    spec: { failurePolicy: 'Fail', matchConstraints: { matchPolicy: 'Equivalent', objectSelector: {} } },
  });
  const spec = { policyName: name, validationActions: ['Deny'] };
  await own.send('POST', `${beta}/validatingadmissionpolicybindings`, JSON.stringify({ metadata: { name }, spec }));
  const refused = await until(
    () => own.send('POST', dryRun, JSON.stringify(map('i', {}))),
    ({ status }) => status !== 201,
  );
  expect(refused.body.message).toContain("ValidatingAdmissionPolicy 'older' with binding 'older' denied request");
  const { body } = await own.send('GET', `${GROUP}/validatingadmissionpolicies/${name}`);
  expect(body).toMatchObject({ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy' });
  own.close();
});

describe('a policy about one of several versions', () => {
  const scalers = (version: string) =>
    `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers?dryRun=All`;
  const scaler = {
    metadata: { name: 'web' },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, maxReplicas: 3 },
  };
  const v1Scaler = { ...scaler, spec: { ...scaler.spec, targetCPUUtilizationPercentage: 90 } };
  const onScalers = (matchPolicy: string) => ({
    matchPolicy,
    resourceRules: [
      { apiGroups: ['autoscaling'], apiVersions: ['v1'], operations: ['*'], resources: ['horizontalpodautoscalers'] },
    ],
  });

  it('sees objects in the version that it names, however they are sent', async () => {
    await policy('versioned', {
      matchConstraints: onScalers('Equivalent'),
      validations: [
        {
          expression: 'object.spec.targetCPUUtilizationPercentage < 90',
          messageExpression:
            "object.apiVersion + ' ' + request.kind.version + request.resource.version + ' ' + " +
            'request.requestKind.version + request.requestResource.version',
        },
      ],
    });
    const asV1 = await until(
      () => post(scalers('v1'), v1Scaler),
      ({ status }) => status !== 201,
    );
    expect(asV1.body.message).toContain('denied request: autoscaling/v1 v1v1 v1v1');
    const metric = {
      type: 'Resource',
      resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 90 } },
    };
    const asV2 = await post(scalers('v2'), { ...scaler, spec: { ...scaler.spec, metrics: [metric] } });
    expect(asV2.body.message).toContain('denied request: autoscaling/v1 v1v1 v2v2');
    await withoutPolicy('versioned');
  });

  it('is about no other version where it says so', async () => {
    await policy('exact', { matchConstraints: onScalers('Exact'), validations: [{ expression: 'false' }] });
    await until(
      () => post(scalers('v1'), v1Scaler),
      ({ status }) => status !== 201,
    );
    expect((await post(scalers('v2'), scaler)).status).toBe(201);
    await withoutPolicy('exact');
  });

  it('sees parameters in the version of its paramKind', async () => {
    const named = { ...v1Scaler, metadata: { name: 'params' } };
    expect((await post(scalers('v1').replace('?dryRun=All', ''), named)).status).toBe(201);
    await policy(
      'versioned-params',
      {
        paramKind: { apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler' },
        validations: [{ expression: 'params.spec.targetCPUUtilizationPercentage < 90', message: 'seen' }],
      },
      {
        validationActions: ['Deny'],
        paramRef: { name: 'params', namespace: 'default', parameterNotFoundAction: 'Deny' },
      },
    );
    const refused = await until(
      () => post(dryRun, map('f', {})),
      ({ status }) => status !== 201,
    );
    expect(refused.body.message).toContain('denied request: seen');
    await withoutPolicy('versioned-params');
  });
});

describe('the status of a policy', () => {
  const path = `${GROUP}/validatingadmissionpolicies/typed`;
  const statusOf = async () => (await client.send('GET', path)).body['status'] as Status | undefined;
  const observed = (generation: number) =>
    until(statusOf, (status) => status?.observedGeneration === generation) as Promise<Status>;

  interface Status {
    readonly observedGeneration?: number;
    readonly typeChecking?: { readonly expressionWarnings?: readonly { readonly fieldRef: string }[] };
  }

  it('tells what the types of the kinds that it is about make of its expressions, for each generation', async () => {
    await policy('typed', { validations: [{ expression: "object.dat.a != 'forbidden'" }], failurePolicy: 'Ignore' });
    expect(await observed(1)).toEqual({
      observedGeneration: 1,
      typeChecking: {
        expressionWarnings: [
          {
            fieldRef: 'spec.validations[0].expression',
            warning: `/v1, Kind=ConfigMap: ERROR: <input>:1:7: undefined field 'dat'\n | object.dat.a != 'forbidden'\n | ......^`,
          },
        ],
      },
    });
    const { body } = await client.send('GET', path);
    expect(body.metadata.managedFields?.map(({ manager }) => manager)).toContain('validatingadmissionpolicy-status');
    const mended = { spec: { validations: [{ expression: "!has(object.data) || object.data.a != 'forbidden'" }] } };
    const { status } = await client.send('PATCH', path, JSON.stringify(mended), 'application/merge-patch+json');
    expect(status).toBe(200);
    expect(await observed(2)).toEqual({ observedGeneration: 2, typeChecking: {} });
    await withoutPolicy('typed');
  });

  it('knows the types of custom resources', async () => {
    const schema = {
      type: 'object',
      properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
    };
    const names = { plural: 'typeds', singular: 'typed', kind: 'Typed', listKind: 'TypedList' };
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }];
    await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'typeds.example.io' },
      spec: { group: 'example.io', scope: 'Namespaced', names, versions },
    });
    await until(
      () => client.send('GET', '/apis/example.io/v1/typeds'),
      ({ status }) => status === 200,
    );
    const rule = { apiGroups: ['example.io'], apiVersions: ['v1'], operations: ['*'], resources: ['typeds'] };
    await policy('typed', {
      matchConstraints: { resourceRules: [rule] },
      paramKind: { apiVersion: 'example.io/v1', kind: 'Typed' },
      validations: [
        { expression: 'object.spec.size < params.spec.size' },
        { expression: "object.spec.size == 'large'" },
        { expression: 'params.spec.colour == 1', messageExpression: 'string(object.spec.shape)' },
      ],
    });
    const { typeChecking } = await observed(1);
    expect(typeChecking?.expressionWarnings?.map(({ fieldRef }) => fieldRef)).toEqual([
      'spec.validations[1].expression',
      'spec.validations[2].expression',
      'spec.validations[2].messageExpression',
    ]);
    await withoutPolicy('typed');
  });
});
