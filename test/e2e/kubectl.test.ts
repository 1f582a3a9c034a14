import { startApiServer, type ApiServer } from '../../src';
import { Kubectl, type KubectlResult } from '../support/kubectl';

/**
 * What a newcomer types, with the kubectl that is on the machine. Each test works in a namespace of its own name.
 */

let server: ApiServer;
let tool: Kubectl;

beforeAll(async () => {
  server = await startApiServer();
  tool = new Kubectl(server.kubeconfig);
}, 30_000);

afterAll(async () => {
  await server.stop();
  tool.remove();
});

function kubectl(argv: readonly string[], input?: string): Promise<KubectlResult> {
  return tool.run(argv, input === undefined ? {} : { input });
}

/** `edit` opens an editor: this one is a sed command. */
function edit(argv: readonly string[], change: string): Promise<KubectlResult> {
  return tool.run(['edit', ...argv], { env: { KUBE_EDITOR: `sed -i ${change}` } });
}

async function succeed(argv: readonly string[], input?: string): Promise<string> {
  const result = await kubectl(argv, input);
  if (result.code !== 0) throw new Error(`kubectl ${argv.join(' ')}: ${result.code}\n${result.stdout}${result.stderr}`);
  return result.stdout;
}

const deployment = (namespace: string, image: string, replicas = 2): string => `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: ${namespace}, labels: { app: web } }
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      containers:
        - { name: web, image: '${image}', ports: [{ containerPort: 80 }] }
`;

const manifest = (metadata: object, fields: object): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, ...fields });

describe('kubectl', () => {
  it('lists what the server serves', async () => {
    const resources = await succeed(['api-resources']);
    expect(resources).toMatch(/^deployments +deploy +apps\/v1 +true +Deployment$/m);
    expect(resources).toMatch(/^configmaps +cm +v1 +true +ConfigMap$/m);
    await expect(succeed(['api-versions'])).resolves.toContain('networking.k8s.io/v1\n');
    await expect(succeed(['version', '-o', 'json'])).resolves.toContain('"serverVersion"');
    await expect(succeed(['get', 'namespaces'])).resolves.toMatch(/^default +Active +\d+s$/m);
  }, 60_000);

  it('explains a kind and a field', async () => {
    await expect(succeed(['explain', 'deployment.spec.replicas'])).resolves.toMatch(/replicas/);
    await expect(succeed(['explain', 'pods.spec.containers'])).resolves.toMatch(/image/);
  }, 60_000);

  it('creates, reads, labels, annotates, patches and deletes', async () => {
    await succeed(['create', 'namespace', 'crud']);
    await succeed(['-n', 'crud', 'create', 'configmap', 'hello', '--from-literal=who=world']);
    await expect(succeed(['-n', 'crud', 'get', 'cm', 'hello', '-o', 'jsonpath={.data.who}'])).resolves.toBe('world');
    await succeed(['-n', 'crud', 'label', 'cm', 'hello', 'tier=front']);
    await succeed(['-n', 'crud', 'annotate', 'cm', 'hello', 'note=seen']);
    await succeed(['-n', 'crud', 'patch', 'cm', 'hello', '--type=merge', '-p', '{"data":{"who":"moon"}}']);
    await succeed(['-n', 'crud', 'patch', 'cm', 'hello', '--type=strategic', '-p', '{"data":{"more":"x"}}']);
    const json = '[{"op":"replace","path":"/data/more","value":"y"}]';
    await succeed(['-n', 'crud', 'patch', 'cm', 'hello', '--type=json', '-p', json]);
    await expect(succeed(['-n', 'crud', 'get', 'cm', '-l', 'tier=front', '-o', 'yaml'])).resolves.toMatch(
      /note: seen[\s\S]*|who: moon/,
    );
    await expect(succeed(['-n', 'crud', 'get', 'cm', 'hello', '-o', 'jsonpath={.data}'])).resolves.toBe(
      '{"more":"y","who":"moon"}',
    );
    await expect(succeed(['-n', 'crud', 'describe', 'cm', 'hello'])).resolves.toContain('moon');
    await expect(succeed(['-n', 'crud', 'delete', 'cm', 'hello'])).resolves.toBe('configmap "hello" deleted\n');
    const gone = await kubectl(['-n', 'crud', 'get', 'cm', 'hello']);
    expect(gone.stderr).toBe('Error from server (NotFound): configmaps "hello" not found\n');
  }, 60_000);

  it('applies a deployment, changes it, shows the difference and scales it', async () => {
    await succeed(['create', 'namespace', 'apply']);
    const apply = (text: string) => succeed(['apply', '-f', '-'], text);
    await expect(apply(deployment('apply', 'nginx:1'))).resolves.toBe('deployment.apps/web created\n');
    await expect(apply(deployment('apply', 'nginx:1'))).resolves.toBe('deployment.apps/web unchanged\n');
    const difference = await kubectl(['diff', '-f', '-'], deployment('apply', 'nginx:2'));
    expect(difference.code).toBe(1);
    expect(difference.stdout).toMatch(/^\+ +-? ?image: nginx:2$/m);
    await expect(apply(deployment('apply', 'nginx:2'))).resolves.toBe('deployment.apps/web configured\n');
    await expect(succeed(['-n', 'apply', 'scale', 'deployment/web', '--replicas=5'])).resolves.toBe(
      'deployment.apps/web scaled\n',
    );
    await expect(succeed(['-n', 'apply', 'get', 'deploy', 'web'])).resolves.toMatch(/^web +0\/5 +0 +0 +\d+s$/m);
    await expect(succeed(['-n', 'apply', 'get', 'deploy', '-o', 'wide'])).resolves.toMatch(/web +nginx:2 +app=web$/m);
    await succeed(['-n', 'apply', 'set', 'image', 'deployment/web', 'web=nginx:3']);
    await expect(
      succeed(['-n', 'apply', 'get', 'deploy', 'web', '-o', 'jsonpath={.spec.template.spec.containers[0].image}']),
    ).resolves.toBe('nginx:3');
  }, 60_000);

  it('applies on the server, and reports a conflict between managers', async () => {
    await succeed(['create', 'namespace', 'ssa']);
    const map = (value: string) => manifest({ name: 'm', namespace: 'ssa' }, { data: { k: value } });
    await succeed(['apply', '--server-side', '--field-manager=one', '-f', '-'], map('a'));
    const conflict = await kubectl(['apply', '--server-side', '--field-manager=two', '-f', '-'], map('b'));
    expect(conflict.code).not.toBe(0);
    expect(conflict.stderr).toContain('conflict with "one": .data.k');
    await succeed(['apply', '--server-side', '--field-manager=two', '--force-conflicts', '-f', '-'], map('b'));
    await expect(succeed(['-n', 'ssa', 'get', 'cm', 'm', '-o', 'jsonpath={.data.k}'])).resolves.toBe('b');
  }, 60_000);

  it('edits, sets, replaces and patches a deployment that was applied both ways', async () => {
    await succeed(['create', 'namespace', 'edits']);
    const at = (...argv: string[]) => ['-n', 'edits', ...argv];
    const image = () => succeed(at('get', 'deploy', 'web', '-o', 'jsonpath={.spec.template.spec.containers[0].image}'));
    await succeed(['apply', '-f', '-'], deployment('edits', 'nginx:1'));
    await succeed(['apply', '--server-side', '-f', '-'], deployment('edits', 'nginx:2'));
    const conflict = await kubectl(
      ['apply', '--server-side', '--field-manager=other', '-f', '-'],
      deployment('edits', 'nginx:3'),
    );
    expect(conflict.stderr).toMatch(/conflict with "kubectl".*\.spec\.template\.spec\.containers\[name="web"\]\.image/);
    const difference = await kubectl(['diff', '--server-side', '-f', '-'], deployment('edits', 'nginx:3'));
    expect(difference).toMatchObject({ code: 1, stdout: expect.stringMatching(/^\+ +-? ?image: nginx:3$/m) });

    await expect(edit(at('deployment', 'web'), 's/nginx:2/nginx:4/')).resolves.toMatchObject({ code: 0 });
    await expect(image()).resolves.toBe('nginx:4');
    await expect(edit(at('deployment', 'web'), 's/none/none/')).resolves.toMatchObject({ code: 0 });
    await succeed(at('set', 'env', 'deployment/web', 'COLOR=red'));
    const strategic = '{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"nginx:5"}]}}}}';
    await succeed(at('patch', 'deploy', 'web', '-p', strategic));
    await expect(image()).resolves.toBe('nginx:5');
    const misfit = await kubectl(at('patch', 'deploy', 'web', '-p', '{"spec":{"replicas":"x"}}'));
    expect(misfit.stderr).toContain('unrecognized type: int32');
    const untrue = '[{"op":"test","path":"/spec/replicas","value":9}]';
    await expect(kubectl(at('patch', 'deploy', 'web', '--type=json', '-p', untrue))).resolves.toMatchObject({
      code: 1,
    });
    await succeed(['replace', '-f', '-'], deployment('edits', 'nginx:6'));
    await succeed(['replace', '--force', '-f', '-'], deployment('edits', 'nginx:7'));
    await expect(image()).resolves.toBe('nginx:7');
  }, 60_000);

  it('is told of unknown fields by a strict server', async () => {
    const text = manifest({ name: 'strict' }, { dta: { a: 'b' } });
    const result = await kubectl(['create', '-f', '-'], text);
    expect(result.code).not.toBe(0);
    expect(result.stderr).toMatch(/unknown field "dta"/);
  }, 60_000);

  it('waits for a namespace to be deleted with all that is in it', async () => {
    await succeed(['create', 'namespace', 'doomed']);
    await succeed(['-n', 'doomed', 'create', 'secret', 'generic', 's', '--from-literal=a=b']);
    await succeed(['apply', '-f', '-'], deployment('doomed', 'nginx:1'));
    await expect(succeed(['delete', 'namespace', 'doomed', '--timeout=30s'])).resolves.toBe(
      'namespace "doomed" deleted\n',
    );
    const gone = await kubectl(['get', 'namespace', 'doomed']);
    expect(gone.stderr).toContain('namespaces "doomed" not found');
  }, 60_000);

  it('watches changes as they happen', async () => {
    await succeed(['create', 'namespace', 'watched']);
    const watching = kubectl(['-n', 'watched', 'get', 'cm', '-w', '-o', 'name', '--request-timeout=4s']);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await succeed(['-n', 'watched', 'create', 'configmap', 'one']);
    await succeed(['-n', 'watched', 'create', 'configmap', 'two']);
    expect((await watching).stdout).toContain('configmap/one\nconfigmap/two\n');
  }, 60_000);
});
