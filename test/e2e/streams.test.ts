import { mkdtempSync, rmSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApiServer, type ApiServer } from '../../src';
import type { ApiClient } from '../../src/client/api-client';
import { adminClient } from '../support/admin-client';
import { writeTestCertificates } from '../support/certificates';
import { FakeKubelet } from '../support/fake-kubelet';
import { Kubectl, type KubectlResult } from '../support/kubectl';

/** What kubectl does with containers, through to a kubelet. */

let folder: string;
let kubelet: FakeKubelet;
let server: ApiServer;
let client: ApiClient;
let kubectl: Kubectl;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sternpost-streams-'));
  const files = await writeTestCertificates(folder, writeFile);
  kubelet = new FakeKubelet({
    certificate: readFileSync(files.certificate, 'utf8'),
    key: readFileSync(files.key, 'utf8'),
    authority: readFileSync(files.ca, 'utf8'),
    writeLog: (response, query) => {
      response.write(`lines: ${query.get('tailLines') ?? 'all'}\n`);
      response.end('end\n');
    },
  });
  const port = await kubelet.listen();
  server = await startApiServer({
    flags: {
      'kubelet-certificate-authority': files.ca,
      'kubelet-client-certificate': files.certificate,
      'kubelet-client-key': files.key,
    },
  });
  client = adminClient(server);
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  };
  await client.create('/api/v1/nodes', { metadata: { name: 'node' }, status });
  await client.create('/api/v1/namespaces', { metadata: { name: 'ns' } });
  await client.create('/api/v1/namespaces/ns/serviceaccounts', { metadata: { name: 'account' } });
  const spec = {
    nodeName: 'node',
    serviceAccountName: 'account',
    automountServiceAccountToken: false,
    containers: [{ name: 'main', image: 'i', stdin: true }],
  };
  await client.create('/api/v1/namespaces/ns/pods', { metadata: { name: 'pod' }, spec });
  await client.patch('/api/v1/namespaces/ns/pods/pod/status', 'merge', {
    status: { phase: 'Running', containerStatuses: [] },
  });
  kubectl = new Kubectl(server.kubeconfig);
}, 60_000);

afterAll(async () => {
  kubectl.remove();
  client.close();
  await server.stop();
  await kubelet.close();
  rmSync(folder, { recursive: true, force: true });
});

it('shows the log of a container', async () => {
  const { stdout } = await kubectl.run(['logs', '-n', 'ns', 'pod', '--tail=3']);
  expect(stdout).toBe('lines: 3\nend\n');
  expect(kubelet.requests.at(-1)).toMatchObject({ url: '/containerLogs/ns/pod/main?tailLines=3', client: 'test' });
});

describe.each([
  ['WebSocket', {}],
  ['SPDY', { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' }],
])('over %s', (_, env) => {
  const exec = (command: readonly string[], input?: string): Promise<KubectlResult> =>
    kubectl.run(['exec', '-n', 'ns', 'pod', ...(input === undefined ? [] : ['-i']), '--', ...command], {
      env,
      ...(input === undefined ? {} : { input }),
    });

  it('runs a command in a container', async () => {
    expect(await exec(['echo', 'a  b'])).toEqual({ code: 0, stdout: 'a  b\n', stderr: '' });
  });

  it('passes on what the command writes to standard error, and its exit code', async () => {
    const { code, stderr, stdout } = await exec(['exit', '7']);
    expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
    expect(stderr).toContain('exit code 7');
    expect((await exec(['complain', 'no'])).stderr).toContain('no\n');
  });

  it('passes standard input on to its end', async () => {
    const input = 'line of text\n'.repeat(70_000);
    const { stdout } = await exec(['cat'], input);
    expect(stdout.length).toBe(input.length);
    expect(stdout === input).toBe(true);
  });

  it('attaches to what runs in a container', async () => {
    const { stdout } = await kubectl.run(['attach', '-n', 'ns', 'pod'], { env });
    expect(stdout).toContain('ready');
  });

  it('brings all of much output', async () => {
    expect((await exec(['flood', '800000'])).stdout.length).toBe(800_000);
  });
});
