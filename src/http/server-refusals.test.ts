import {
  CONFIG_MAPS,
  CONTROLLERS,
  DEPLOYMENTS,
  MERGE,
  TABLE,
  servedOverHttp,
  type Sent,
} from '../../test/support/served-over-http';

const { send } = servedOverHttp();

describe('a refusal', () => {
  const cases: readonly [method: string, path: string, sent: Sent, status: number, message: string | undefined][] = [
    ['GET', '/api/v1/nosuch', {}, 404, 'the server could not find the requested resource'],
    ['GET', '/api/v1/configmaps/c', {}, 404, 'the server could not find the requested resource'],
    ['GET', `${CONFIG_MAPS}/c/nosuch`, {}, 404, 'the server could not find the requested resource'],
    ['GET', `${CONFIG_MAPS}/a%2Fb`, {}, 404, 'the server could not find the requested resource'],
    ['GET', '/api/v1/namespaces/a/namespaces', {}, 404, 'the server could not find the requested resource'],
    ['GET', '/api/v1/watch/componentstatuses', {}, 404, 'the server could not find the requested resource'],
    ['POST', '/api/v1/watch/namespaces/a/bindings', {}, 404, 'the server could not find the requested resource'],
    ['POST', '/api/v1/bindings', {}, 404, 'the server could not find the requested resource'],
    [
      'GET',
      '/api/v1/namespaces/a/bindings',
      {},
      405,
      'the server does not allow this method on the requested resource',
    ],
    ['GET', '/apis/nosuch/v1/things', {}, 404, undefined],
    ['GET', '/apis/apps/v7/things', {}, 404, 'the server could not find the requested resource'],
    ['GET', `${CONFIG_MAPS}/..`, {}, 400, `Name parameter invalid: "..": may not be '..'`],
    ['GET', `${CONFIG_MAPS}/c%`, {}, 400, undefined],
    ['POST', '/api/v1/configmaps', {}, 405, 'the server does not allow this method on the requested resource'],
    ['POST', `${CONFIG_MAPS}/c`, {}, 405, 'the server does not allow this method on the requested resource'],
    ['PUT', CONFIG_MAPS, {}, 405, 'the server does not allow this method on the requested resource'],
    ['PROPFIND', CONFIG_MAPS, {}, 405, 'the server does not allow this method on the requested resource'],
    [
      'DELETE',
      '/api/v1/watch/namespaces/a/configmaps/c',
      {},
      405,
      'the server does not allow this method on the requested resource',
    ],
    ['GET', CONFIG_MAPS, { headers: { accept: 'text/html' } }, 406, '406: Not Acceptable'],
    [
      'PATCH',
      `${CONFIG_MAPS}/c`,
      { headers: { 'content-type': 'application/json' }, body: {} },
      415,
      '415: Unsupported Media Type',
    ],
    [
      'POST',
      CONFIG_MAPS,
      { body: '' },
      400,
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
    ],
    [
      'POST',
      CONFIG_MAPS,
      { body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } } },
      400,
      'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
    ],
    [
      'POST',
      DEPLOYMENTS,
      { body: { apiVersion: 'extensions/v1beta1', kind: 'Deployment', metadata: { name: 'x' } } },
      400,
      'the API version in the data (extensions/v1beta1) does not match the expected API version (apps/v1)',
    ],
    [
      'POST',
      DEPLOYMENTS,
      { body: { apiVersion: 'apps/v1beta2', kind: 'DaemonSet', metadata: { name: 'x' } } },
      400,
      'DaemonSet in version "v1beta2" cannot be handled as a Deployment: converting (v1beta2.DaemonSet) to (apps.Deployment): unknown conversion',
    ],
    [
      'POST',
      DEPLOYMENTS,
      { body: { apiVersion: 'apps/v7', kind: 'Deployment', metadata: { name: 'x' } } },
      400,
      'Deployment in version "v7" cannot be handled as a Deployment: no kind "Deployment" is registered for version "apps/v7"',
    ],
    [
      'PUT',
      `${DEPLOYMENTS}/x/scale`,
      { body: { apiVersion: 'extensions/v1beta1', kind: 'Scale', metadata: { name: 'x' } } },
      400,
      'the API version in the data (extensions/v1beta1) does not match the expected API version (autoscaling/v1)',
    ],
    ['GET', `${DEPLOYMENTS}/none/scale`, {}, 404, 'deployments/scale.apps "none" not found'],
    ['GET', `${CONTROLLERS}/none/scale`, {}, 404, 'replicationcontrollers/scale.autoscaling "none" not found'],
    [
      'PUT',
      `${DEPLOYMENTS}/none/scale`,
      { body: { metadata: { name: 'none', namespace: 'a' }, spec: { replicas: 1 } } },
      404,
      'deployments.apps "none" not found',
    ],
    [
      'PATCH',
      `${DEPLOYMENTS}/none/scale`,
      { body: { spec: { replicas: 1 } }, headers: MERGE },
      404,
      'deployments.apps "none" not found',
    ],
    [
      'POST',
      CONFIG_MAPS,
      { body: { metadata: { name: 'x', namespace: 'other' } } },
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
    ['POST', CONFIG_MAPS, { body: 'x'.repeat(3 * 1024 * 1024 + 1) }, 413, 'Request entity too large: limit is 3145728'],
    [
      'PUT',
      `${CONFIG_MAPS}/c`,
      { body: { metadata: { name: 'd' } } },
      400,
      'the name of the object (d) does not match the name on the URL (c)',
    ],
    [
      'PUT',
      `${CONFIG_MAPS}/c`,
      { body: {} },
      400,
      'the name of the object (c based on URL) was undeterminable: name must be provided',
    ],
    [
      'DELETE',
      `${CONFIG_MAPS}/c?propagationPolicy=Bogus`,
      {},
      422,
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Bogus": supported values: "Foreground", "Background", "Orphan", "nil"',
    ],
    ['GET', CONFIG_MAPS, { headers: { authorization: 'Bearer wrong' } }, 401, 'Unauthorized'],
    [
      'GET',
      `${CONFIG_MAPS}/c`,
      { headers: { authorization: 'Bearer nobody' } },
      403,
      'configmaps "c" is forbidden: User "nobody" cannot get resource "configmaps" in API group "" in the namespace "a"',
    ],
    [
      'GET',
      '/healthz',
      { headers: { authorization: 'Bearer nobody' } },
      403,
      'forbidden: User "nobody" cannot get path "/healthz"',
    ],
    [
      'GET',
      CONFIG_MAPS,
      { headers: { authorization: 'Bearer nobody', 'impersonate-user': 'admin' } },
      403,
      'users "admin" is forbidden: User "nobody" cannot impersonate resource "users" in API group "" at the cluster scope',
    ],
    [
      'GET',
      CONFIG_MAPS,
      { headers: { 'impersonate-user': 'nobody' } },
      403,
      'configmaps is forbidden: User "nobody" cannot list resource "configmaps" in API group "" in the namespace "a"',
    ],
    ['GET', '/broken', {}, 500, 'Internal error occurred: the server could not complete the request; its log says why'],
    ['GET', '/slow?timeout=50ms', {}, 504, 'Timeout: request did not complete within requested timeout 50ms'],
  ];
  it.each(cases)('of %s %s %#', async (method, path, sent, status, message) => {
    const response = await send(method, path, sent);
    expect(response.status).toBe(status);
    expect(response.body?.message).toBe(message);
  });

  it('lists the paths that there are', async () => {
    expect((await send('GET', '/nosuch')).body).toEqual({ paths: ['/broken', '/healthz', '/slow', '/unanswerable'] });
  });

  it('is written in the format that the client takes', async () => {
    const yaml = await send('GET', `${CONFIG_MAPS}/none`, { headers: { accept: 'application/yaml' } });
    expect(yaml.text).toContain('message: configmaps "none" not found\n');
    const table = await send('GET', `${CONFIG_MAPS}/none`, { headers: TABLE });
    expect(table.body).toMatchObject({ kind: 'Status', code: 404 });
  });
});
