import { startApiServer, type ApiServer } from '../../src';
import { StatusError } from '../../src/api/errors/status-error';
import type { ApiClient } from '../../src/client/api-client';
import { adminClient } from '../support/admin-client';
import { freePorts } from '../support/free-ports';

/** Connections to pods, services and nodes that come to nothing. */

let server: ApiServer;
let client: ApiClient;
/** Of a kubelet that is down. */
let closedPort = 0;

const NS = '/api/v1/namespaces/ns';

async function createPod(name: string, spec: object): Promise<void> {
  const containers = [{ name: 'main', image: 'i' }];
  const pod = { metadata: { name }, spec: { automountServiceAccountToken: false, containers, ...spec } };
  for (const end = Date.now() + 10_000; ;) {
    try {
      await client.create(`${NS}/pods`, pod);
      return;
    } catch (error) {
      // The namespace's default account comes a moment after the namespace.
      if (!(error instanceof StatusError && error.status.code === 403) || Date.now() > end) throw error;
      await new Promise((done) => setTimeout(done, 20));
    }
  }
}

beforeAll(async () => {
  server = await startApiServer();
  client = adminClient(server);
  await client.create('/api/v1/namespaces', { metadata: { name: 'ns' } });
  [closedPort = 0] = await freePorts(1);
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: closedPort } },
  };
  await client.create('/api/v1/nodes', { metadata: { name: 'there' }, status });
  await client.create('/api/v1/nodes', { metadata: { name: 'bare' } });
  const two = [
    { name: 'a', image: 'i' },
    { name: 'b', image: 'i' },
  ];
  await createPod('unbound', {});
  await createPod('bound', { nodeName: 'there' });
  await createPod('bare', { nodeName: 'bare' });
  await createPod('lost', { nodeName: 'gone' });
  await createPod('two', { nodeName: 'there', containers: two, initContainers: [{ name: 'init', image: 'i' }] });
  const ports = [{ name: 'http', port: 80 }];
  for (const name of ['empty', 'unready'])
    await client.create(`${NS}/services`, { metadata: { name }, spec: { ports } });
  const subsets = [{ notReadyAddresses: [{ ip: '192.0.2.9' }], ports }];
  await client.create(`${NS}/endpoints`, { metadata: { name: 'unready' }, subsets });
}, 30_000);

afterAll(async () => {
  client.close();
  await server.stop();
});

/** Code and message of the refusal. */
function refusal(method: 'GET' | 'POST', path: string): Promise<string> {
  const asked = method === 'GET' ? client.get(path) : client.create(path, {});
  return asked.then(
    () => 'answered',
    (error: unknown) => (error instanceof StatusError ? `${error.status.code} ${error.message}` : String(error)),
  );
}

describe('a stream to a container', () => {
  it.each([
    ['none/exec?command=ls', '404 pods "none" not found'],
    ['unbound/exec?command=ls', '400 pod unbound does not have a host assigned'],
    ['lost/exec?command=ls', '404 pods "gone" not found'],
    ['bare/exec?command=ls', '500 no preferred addresses found; known addresses: []'],
    ['two/exec', '400 a container name must be specified for pod two, choose one of: [init a b]'],
    ['two/attach?container=c', '400 container c is not valid for pod two'],
    ['two/attach?container=init', '400 Upgrade request required'],
    ['bound/exec?command=ls', '400 Upgrade request required'],
    ['bound/exec?command=ls&dryRun=All', '400 dryRun is not supported'],
    ['bound/portforward?dryRun=', '400 dryRun is not supported'],
    ['unbound/portforward', '400 pod unbound does not have a host assigned'],
    ['bound/portforward?ports=x', '400 strconv.ParseInt: parsing "x": invalid syntax'],
  ])('%s is refused', async (path, expected) => {
    expect(await refusal('POST', `${NS}/pods/${path}`)).toBe(expected);
    expect(await refusal('GET', `${NS}/pods/${path}`)).toBe(expected);
  });
});

describe('the log of a container', () => {
  it.each([
    ['none/log', '404 pods "none" not found'],
    ['bound/log?tailLines=-1', 'tailLines: Invalid value: -1: must be greater than or equal to 0'],
    ['bound/log?limitBytes=0', 'limitBytes: Invalid value: 0: must be greater than 0'],
    ['bound/log?sinceSeconds=1&sinceTime=2020-01-02T03:04:05Z', '[]: Forbidden: at most one of `sinceTime`'],
    ['bound/log?sinceTime=yesterday', '400 parsing time "yesterday"'],
    ['two/log', '400 a container name must be specified for pod two, choose one of: [init a b]'],
    ['lost/log', '404 pods "gone" not found'],
  ])('%s is refused', async (path, expected) => {
    expect(await refusal('GET', `${NS}/pods/${path}`)).toContain(expected);
  });
});

describe('a proxy', () => {
  it.each([
    [`${NS}/pods/none:80/proxy/x`, '404 pods "none" not found'],
    [`${NS}/pods/ftp:bound:1/proxy/x`, '400 invalid pod request "ftp:bound:1"'],
    [`${NS}/pods/bound/proxy/x`, '400 address not allowed'],
    [`${NS}/services/none/proxy/`, '404 services "none" not found'],
    [`${NS}/services/empty/proxy/`, '404 services "empty" not found'],
    [`${NS}/services/unready/proxy/`, '503 no endpoints available for service "unready"'],
    [`${NS}/services/unready:81/proxy/`, '503 no service port 81 found for service "unready"'],
    [`${NS}/services/a:b:c:d/proxy/`, '400 invalid service request "a:b:c:d"'],
    ['/api/v1/nodes/there/proxy/x?dryRun=All', '400 dryRun is not supported'],
    [`${NS}/services/empty/proxy/?dryRun=%ff`, '400 dryRun is not supported'],
    ['/api/v1/nodes/none/proxy/x', '404 nodes "none" not found'],
    ['/api/v1/nodes/bare/proxy/x', '500 no preferred addresses found; known addresses: []'],
  ])('to %s is refused, whatever the method', async (path, expected) => {
    expect(await refusal('GET', path)).toBe(expected);
    expect(await refusal('POST', path)).toBe(expected);
  });
});

it('says that a kubelet is down', async () => {
  const dial = `dial tcp 127.0.0.1:${closedPort}: connect: connection refused`;
  const url = `"https://127.0.0.1:${closedPort}/containerLogs/ns/bound/main"`;
  expect(await refusal('GET', `${NS}/pods/bound/log`)).toBe(`500 Get ${url}: ${dial}`);
  expect(await refusal('GET', '/api/v1/nodes/there/proxy/x')).toBe(`500 error trying to reach service: ${dial}`);
  expect(await refusal('POST', '/api/v1/nodes/there/proxy/x')).toBe(`500 error trying to reach service: ${dial}`);
});
