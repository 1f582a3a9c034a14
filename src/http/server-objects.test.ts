import {
  CONFIG_MAPS,
  DEPLOYMENTS,
  MERGE,
  TABLE,
  servedOverHttp,
  type Response,
} from '../../test/support/served-over-http';

const { send } = servedOverHttp();

describe('an object', () => {
  it('is created, read, listed, changed and deleted', async () => {
    const created = await send('POST', CONFIG_MAPS, { body: { metadata: { name: 'c1' }, data: { k: 'v' } } });
    expect(created).toMatchObject({
      status: 201,
      headers: { 'content-type': 'application/json', 'cache-control': 'no-cache, private' },
      body: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'c1', namespace: 'a' }, data: { k: 'v' } },
    });
    expect(created.text.endsWith('}\n')).toBe(true);

    const read = await send('GET', `${CONFIG_MAPS}/c1`);
    expect(read.body).toEqual(created.body);
    expect(Number(read.headers['content-length'])).toBe(Buffer.byteLength(read.text));

    const list = await send('GET', CONFIG_MAPS);
    expect(list.body).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1', items: [{ metadata: { name: 'c1' } }] });
    expect(list.body.items[0].kind).toBeUndefined();

    const put = await send('PUT', `${CONFIG_MAPS}/c1`, { body: { metadata: { name: 'c1' }, data: { k: 'w' } } });
    expect(put).toMatchObject({ status: 200, body: { data: { k: 'w' } } });

    const patched = await send('PATCH', `${CONFIG_MAPS}/c1`, { body: { data: { l: 'x' } }, headers: MERGE });
    expect(patched).toMatchObject({ status: 200, body: { data: { k: 'w', l: 'x' } } });

    const gone = await send('DELETE', `${CONFIG_MAPS}/c1`);
    const { uid } = created.body.metadata;
    expect(gone.body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'c1', kind: 'configmaps', uid },
    });
    expect((await send('GET', `${CONFIG_MAPS}/c1`)).body).toMatchObject({ code: 404, reason: 'NotFound' });
  });

  it('is applied and keeps who owns what', async () => {
    const path = `${CONFIG_MAPS}/applied?fieldManager=m`;
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\ndata: {k: v}\n';
    expect(await send('PATCH', path, { body, headers })).toMatchObject({ status: 201 });
    const again = await send('PATCH', path, { body, headers });
    expect(again).toMatchObject({
      status: 200,
      body: { data: { k: 'v' }, metadata: { managedFields: [{ manager: 'm', operation: 'Apply' }] } },
    });
    const other = await send('PATCH', `${CONFIG_MAPS}/applied?fieldManager=n`, {
      body: body.replace('k: v', 'k: w'),
      headers,
    });
    expect(other).toMatchObject({ status: 409, body: { reason: 'Conflict' } });
  });

  it('comes as YAML, Protobuf, a Table or its metadata only', async () => {
    await send('POST', CONFIG_MAPS, { body: { metadata: { name: 'forms' }, data: { k: 'v' } } });
    const path = `${CONFIG_MAPS}/forms`;
    expect((await send('GET', path, { headers: { accept: 'application/yaml' } })).text).toContain('data:\n  k: v\n');
    const protobuf = await send('GET', path, { headers: { accept: 'application/vnd.kubernetes.protobuf' } });
    expect(protobuf.text.startsWith('k8s\0')).toBe(true);
    const table = await send('GET', path, { headers: TABLE });
    expect(table.body).toMatchObject({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      rows: [{ object: { kind: 'PartialObjectMetadata' } }],
    });
    const partial = await send('GET', path, {
      headers: { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' },
    });
    expect(Object.keys(partial.body as object)).toEqual(['kind', 'apiVersion', 'metadata']);
    expect((await send('GET', path, { headers: { 'user-agent': 'curl/8' } })).text).toMatch(
      /^\{\n {2}"kind": "ConfigMap"/,
    );
    expect((await send('GET', CONFIG_MAPS, { headers: { ...TABLE } })).body.rows.length).toBeGreaterThan(0);
    const list = await send('GET', CONFIG_MAPS, { headers: { accept: 'application/vnd.kubernetes.protobuf' } });
    expect(list.text).toContain('ConfigMapList');
  });

  it('lists flow schemas in a Table as requests try them', async () => {
    const path = '/apis/flowcontrol.apiserver.k8s.io/v1beta1/flowschemas';
    const create = (name: string, matchingPrecedence: number) =>
      send('POST', path, {
        body: { metadata: { name }, spec: { matchingPrecedence, priorityLevelConfiguration: { name: 'p' } } },
      });
    expect((await create('a', 900)).status).toBe(201);
    await create('c', 5);
    await create('b', 5);
    const named = (name: string) => ({ metadata: { name } });
    expect((await send('GET', path, { headers: TABLE })).body).toMatchObject({
      rows: ['b', 'c', 'a'].map((name) => ({ object: named(name) })),
    });
    expect((await send('GET', path)).body).toMatchObject({ items: ['a', 'b', 'c'].map(named) });
  });

  it('is a priority level under every version, each with its names and rules', async () => {
    const path = (version: string) => `/apis/flowcontrol.apiserver.k8s.io/${version}/prioritylevelconfigurations`;
    const limitResponse = { type: 'Reject' };
    const body = { metadata: { name: 'jail' }, spec: { type: 'Limited', limited: { limitResponse } } };
    const limited = async (version: string) =>
      ((await send('GET', `${path(version)}/jail`)).body as { readonly spec: { readonly limited: unknown } }).spec
        .limited;
    expect((await send('POST', path('v1'), { body })).body).toMatchObject({
      apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
      spec: { limited: { nominalConcurrencyShares: 30, lendablePercent: 0, limitResponse } },
    });
    const zero = { spec: { limited: { nominalConcurrencyShares: 0 } } };
    expect((await send('PATCH', `${path('v1')}/jail`, { body: zero, headers: MERGE })).status).toBe(200);
    expect(await limited('v1')).toEqual({ nominalConcurrencyShares: 0, lendablePercent: 0, limitResponse });
    expect(await limited('v1beta3')).toEqual({ nominalConcurrencyShares: 0, lendablePercent: 0, limitResponse });
    for (const version of ['v1beta1', 'v1beta2']) {
      expect(await limited(version)).toEqual({ assuredConcurrencyShares: 0, limitResponse });
    }
    const label = { metadata: { labels: { a: 'b' } } };
    const labelled = await send('PATCH', `${path('v1beta1')}/jail`, { body: label, headers: MERGE });
    expect(labelled.body).toMatchObject({ spec: { limited: { assuredConcurrencyShares: 0 } } });
    expect(labelled.body.metadata.annotations).toEqual({
      'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares': '',
    });
    expect((await send('GET', `${path('v1')}/jail`)).body.metadata.annotations).toBeUndefined();
    const wrong = { spec: { limited: { nominalConcurrencyShares: -1 } } };
    expect((await send('PATCH', `${path('v1')}/jail`, { body: wrong, headers: MERGE })).body.message).toBe(
      'PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io "jail" is invalid: spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer',
    );
  });

  it('is scaled by one number', async () => {
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const body = { metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template } };
    expect((await send('POST', DEPLOYMENTS, { body })).status).toBe(201);
    const scale = await send('GET', `${DEPLOYMENTS}/d/scale`);
    expect(scale.body).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      spec: { replicas: 1 },
      status: { replicas: 0, selector: 'a=b' },
    });
    const put = await send('PUT', `${DEPLOYMENTS}/d/scale`, {
      body: { metadata: { name: 'd', namespace: 'a' }, spec: { replicas: 5 } },
    });
    expect(put.body).toMatchObject({ kind: 'Scale', spec: { replicas: 5 } });
    expect((await send('GET', `${DEPLOYMENTS}/d`)).body.spec.replicas).toBe(5);
    const negative = await send('PATCH', `${DEPLOYMENTS}/d/scale`, {
      body: { spec: { replicas: -1 } },
      headers: MERGE,
    });
    expect(negative.body.message).toBe(
      'Scale.autoscaling "d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    );
  });

  it('is bound to a node once', async () => {
    const pods = '/api/v1/namespaces/a/pods';
    await send('POST', pods, { body: { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } } });
    const binding = { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n1' } };
    const bound = await send('POST', `${pods}/p/binding`, { body: binding });
    expect(bound).toMatchObject({ status: 201, body: { status: 'Success', code: 201 } });
    expect((await send('GET', `${pods}/p`)).body).toMatchObject({
      spec: { nodeName: 'n1' },
      status: { conditions: [{ type: 'PodScheduled', status: 'True' }] },
    });
    expect((await send('POST', `${pods}/p/binding`, { body: binding })).body.message).toBe(
      'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n1"',
    );
  });

  it('is evicted as its disruption budget allows', async () => {
    const pods = '/api/v1/namespaces/e/pods';
    const budgets = '/apis/policy/v1beta1/namespaces/e/poddisruptionbudgets';
    const eviction = { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: { name: 'p' } };
    const metadata = { name: 'p', labels: { app: 'p' } };
    await send('POST', pods, { body: { metadata, spec: { containers: [{ name: 'c', image: 'i' }] } } });
    await send('PATCH', `${pods}/p/status`, {
      body: { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } },
      headers: MERGE,
    });
    const selector = { matchLabels: { app: 'p' } };
    await send('POST', budgets, { body: { metadata: { name: 'b' }, spec: { minAvailable: 1, selector } } });
    const evict = (): Promise<Response> => send('POST', `${pods}/p/eviction`, { body: eviction });
    const allow = (disruptionsAllowed: number): Promise<Response> =>
      send('PATCH', `${budgets}/b/status`, {
        body: {
          status: { observedGeneration: 1, disruptionsAllowed, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
        },
        headers: MERGE,
      });

    expect((await evict()).body.details.causes[0].message).toBe(
      'The disruption budget b is still being processed by the server.',
    );
    await allow(0);
    expect(await evict()).toMatchObject({
      status: 429,
      body: {
        reason: 'TooManyRequests',
        details: { causes: [{ message: 'The disruption budget b needs 1 healthy pods and has 1 currently' }] },
      },
    });
    await allow(1);
    expect(await evict()).toMatchObject({ status: 201, body: { status: 'Success', code: 201 } });
    const spent = (await send('GET', `${budgets}/b`)).body;
    expect(spent.status).toMatchObject({ disruptedPods: { p: expect.any(String) } });
    expect(spent.status.disruptionsAllowed ?? 0).toBe(0);
    expect(spent.metadata.managedFields).toContainEqual(
      expect.objectContaining({
        manager: 'kube-apiserver',
        fieldsV1: { 'f:status': { 'f:disruptedPods': { '.': {}, 'f:p': {} }, 'f:disruptionsAllowed': {} } },
      }),
    );
  });

  it('that is not ready is evicted while enough others are healthy, or where the budget does not mind', async () => {
    const pods = '/api/v1/namespaces/unready/pods';
    const budgets = '/apis/policy/v1/namespaces/unready/poddisruptionbudgets';
    const budget = { metadata: { name: 'b' }, spec: { minAvailable: 1, selector: {} } };
    await send('POST', budgets, { body: budget });
    const setHealthy = (currentHealthy: number): Promise<Response> =>
      send('PATCH', `${budgets}/b/status`, {
        body: { status: { observedGeneration: 9, currentHealthy, desiredHealthy: 1, expectedPods: 2 } },
        headers: MERGE,
      });
    const evictNew = async (name: string, preconditions = {}): Promise<number> => {
      await send('POST', pods, { body: { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } } });
      await send('PATCH', `${pods}/${name}/status`, { body: { status: { phase: 'Running' } }, headers: MERGE });
      const eviction = {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name },
        deleteOptions: { preconditions },
      };
      return (await send('POST', `${pods}/${name}/eviction`, { body: eviction })).status;
    };
    await setHealthy(0);
    expect(await evictNew('few')).toBe(429);
    await setHealthy(1);
    expect(await evictNew('another', { uid: 'of another' })).toBe(409);
    expect(await evictNew('enough')).toBe(201);
    await setHealthy(0);
    const careless = { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } };
    await send('PATCH', `${budgets}/b`, { body: careless, headers: MERGE });
    expect(await evictNew('any')).toBe(201);
  });

  it('is checked strictly where asked', async () => {
    const body = '{"metadata":{"name":"s"},"dta":{},"data":{"a":"1","a":"2"}}';
    const strict = await send('POST', `${CONFIG_MAPS}?fieldValidation=Strict`, { body });
    expect(strict.body.message).toBe(
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "data.a", unknown field "dta"',
    );
    const warned = await send('POST', `${CONFIG_MAPS}?fieldValidation=Warn&dryRun=All`, { body });
    expect(warned.status).toBe(201);
    expect(warned.headers['warning']).toContain('299 - "unknown field \\"dta\\""');
  });

  it('is not applied with a key given twice where that is checked strictly', async () => {
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: twice }\ndata:\n  a: "1"\n  a: "2"\n';
    const path = `${CONFIG_MAPS}/twice?fieldManager=m&fieldValidation=`;
    const refused = await send('PATCH', `${path}Strict`, { body, headers });
    expect(refused).toMatchObject({
      status: 400,
      body: {
        message:
          'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 6: key "a" already set in map',
      },
    });
    expect((await send('PATCH', `${path}Warn`, { body, headers })).status).toBe(201);
  });

  it.each([
    [
      'merge-patch',
      '{"spec":{"replicas":1,"replicas":1,"repicas":2}}',
      /^ "" is invalid: patch: Invalid value: "\{\\"kind.*: strict decoding error: duplicate field "spec.replicas", unknown field "spec.repicas"$/,
    ],
    [
      'strategic-merge-patch',
      '{"spec":{"replicas":1,"replicas":1,"repicas":2}}',
      ' "" is invalid: patch: Invalid value: "map[spec:map[repicas:2 replicas:1]]": strict decoding error: duplicate field "spec.replicas", unknown field "spec.repicas"',
    ],
    [
      'json-patch',
      '[{"op":"add","path":"/spec/repicas","value":2,"value":2,"note":"x"}]',
      /: strict decoding error: json patch unknown field "\[0\].note", json patch duplicate field "\[0\].value", unknown field "spec.repicas"$/,
    ],
  ])('is refused with 422 for what nobody knows in a strict %s', async (format, body, message) => {
    const deployments = '/apis/apps/v1/namespaces/default/deployments';
    const name = `strict-${format}`;
    const labels = { app: name };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const spec = { selector: { matchLabels: labels }, template };
    const { body: created } = await send('POST', deployments, { body: { metadata: { name }, spec } });
    const headers = { 'content-type': `application/${format}+json` };
    const path = `${deployments}/${name}`;
    const refused = await send('PATCH', `${path}?fieldValidation=Strict`, { body, headers });
    expect(refused).toMatchObject({
      status: 422,
      body: { reason: 'Invalid', details: { causes: [{ field: 'patch' }] } },
    });
    expect(refused.body.message).toMatch(message);
    expect((await send('GET', path)).body.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
    const warned = await send('PATCH', `${path}?fieldValidation=Warn`, { body, headers });
    expect(warned.status).toBe(200);
    expect(warned.headers['warning']).toContain('299 - "unknown field \\"spec.repicas\\""');
  });

  it('is no Table in part, but its metadata', async () => {
    const labels = { app: 'part' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    await send('POST', DEPLOYMENTS, {
      body: { metadata: { name: 'part' }, spec: { selector: { matchLabels: labels }, template } },
    });
    const partial = { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' };
    for (const part of ['status', 'scale']) {
      expect((await send('GET', `${DEPLOYMENTS}/part/${part}`, { headers: TABLE })).status).toBe(406);
      const either = { accept: `${TABLE.accept},application/json` };
      expect((await send('GET', `${DEPLOYMENTS}/part/${part}`, { headers: either })).status).toBe(200);
    }
    expect((await send('GET', `${DEPLOYMENTS}/part/status`, { headers: partial })).body.kind).toBe(
      'PartialObjectMetadata',
    );
    expect((await send('GET', `${DEPLOYMENTS}/part`, { headers: TABLE })).body.kind).toBe('Table');
  });

  it('of a kind without a namespace is not selected by one, once the kind says by what it is', async () => {
    const selected = (path: string) => send('GET', `${path}?fieldSelector=metadata.namespace%3Da`);
    expect(await selected('/api/v1/namespaces')).toMatchObject({
      status: 400,
      body: { message: 'field label not supported: metadata.namespace' },
    });
    expect(await selected(CONFIG_MAPS)).toMatchObject({ status: 200 });
  });

  it.each([
    ['application/json;', 201],
    ['application/json; charset="a;b" ;', 201],
    ['application/json; ;', 415],
    ['application/json; charset', 415],
    [';', 415],
  ])('comes in a body of the type %s, or not', async (type, status) => {
    const headers = { 'content-type': type };
    const sent = send('POST', `${CONFIG_MAPS}?dryRun=All`, { body: { metadata: { name: 'typed' } }, headers });
    expect(await sent).toMatchObject({ status });
  });
});
