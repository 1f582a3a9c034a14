import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dump, load } from 'js-yaml';
import { startApiServer, type ApiServer } from '../../src';
import { Kubectl, type KubectlResult } from '../support/kubectl';

/** What administrators type about users and their rights, with the kubectl that is on the machine. */

let server: ApiServer;
let tool: Kubectl;

beforeAll(async () => {
  server = await startApiServer();
  tool = new Kubectl(server.kubeconfig);
  const applied = await kubectl(['auth', 'reconcile', '-f', '-'], RULES);
  if (applied.code !== 0) throw new Error(applied.stderr);
}, 60_000);

afterAll(async () => {
  await server.stop();
  tool.remove();
});

function kubectl(argv: readonly string[], input?: string, as?: string): Promise<KubectlResult> {
  return tool.run(argv, { ...(input !== undefined && { input }), ...(as !== undefined && { as }) });
}

/** A kubeconfig whose user has a token and nothing else. */
function kubeconfigOf(token: string): string {
  const config = load(server.kubeconfig) as { users: { user: object }[] };
  for (const user of config.users) user.user = { token };
  const file = join(tool.folder, 'token.kubeconfig');
  writeFileSync(file, dump(config));
  return file;
}

const role = (rules: readonly object[]) => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  metadata: { name: 'reader', namespace: 'default' },
  rules,
});
const RULES = [
  role([
    { apiGroups: [''], resources: ['pods', 'pods/log'], verbs: ['get', 'list'] },
    { apiGroups: [''], resources: ['configmaps'], resourceNames: ['mine'], verbs: ['get'] },
  ]),
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'reader', namespace: 'default' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
    subjects: [
      { kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' },
      { kind: 'ServiceAccount', name: 'robot', namespace: 'default' },
    ],
  },
]
  .map((object) => dump(object))
  .join('---\n');

describe('kubectl auth', () => {
  it('lists what a user may do', async () => {
    const { stdout } = await kubectl(['auth', 'can-i', '--list', '--as', 'alice']);
    expect(stdout).toMatch(/^pods\/log +\[] +\[] +\[get list]$/m);
    expect(stdout).toMatch(/^configmaps +\[] +\[mine] +\[get]$/m);
    expect(stdout).toMatch(/^selfsubjectaccessreviews\.authorization\.k8s\.io +\[] +\[] +\[create]$/m);
  }, 60_000);

  it.each<[string, readonly string[], readonly string[]]>([
    ['yes', ['get', 'pods'], ['alice']],
    ['yes', ['get', 'pods', '--subresource=log'], ['alice']],
    ['yes', ['get', 'configmaps/mine'], ['alice']],
    ['yes', ['get', '/healthz'], ['alice']],
    ['yes', ['*', '*'], ['bob', 'system:masters']],
    ['no', ['delete', 'pods'], ['alice']],
    ['no', ['get', 'configmaps/other'], ['alice']],
    ['no', ['get', 'pods', '--namespace=kube-system'], ['alice']],
    ['no', ['get', '/metrics'], ['alice']],
    ['no', ['get', 'pods'], ['bob', 'dev']],
  ])(
    'says %s to %j of %j',
    async (response, question, [user = '', ...groups]) => {
      const as = ['--as', user, ...groups.flatMap((group) => ['--as-group', group])];
      const { code, stdout } = await kubectl(['auth', 'can-i', ...question, ...as]);
      expect([stdout.trim(), code]).toEqual([response, response === 'yes' ? 0 : 1]);
    },
    60_000,
  );

  it('reconciles roles: adds what is missing, and takes away only when told to', async () => {
    const narrower = JSON.stringify(role([{ apiGroups: [''], resources: ['pods', 'pods/log'], verbs: ['get'] }]));
    const verbs = async () =>
      (await kubectl(['get', 'role', 'reader', '-o', 'jsonpath={.rules[*].verbs[*]}'])).stdout.split(' ');
    await kubectl(['auth', 'reconcile', '-f', '-'], narrower);
    expect(await verbs()).toContain('list');
    await kubectl(['auth', 'reconcile', '--remove-extra-permissions', '-f', '-'], narrower);
    expect(await verbs()).not.toContain('list');
    await kubectl(['auth', 'reconcile', '-f', '-'], RULES);
    expect(await verbs()).toContain('list');
  }, 60_000);

  it('does not let a user give away what is not theirs', async () => {
    const { code, stderr } = await kubectl([
      'create',
      'role',
      'more',
      '--verb=*',
      '--resource=secrets',
      '--as',
      'alice',
    ]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('cannot create resource "roles"')]);
  }, 60_000);
});

describe('kubectl as somebody else', () => {
  it('is refused what they are refused', async () => {
    await expect(kubectl(['get', 'pods', '--as', 'alice'])).resolves.toMatchObject({ code: 0 });
    const { code, stderr } = await kubectl(['get', 'secrets', '--as', 'alice', '--as-group', 'dev']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('User "alice" cannot list resource "secrets"')]);
  }, 60_000);
});

describe('kubectl create token', () => {
  it('gives a token that is good for its account, and no more', async () => {
    await kubectl(['create', 'serviceaccount', 'robot']);
    const { stdout } = await kubectl(['create', 'token', 'robot', '--duration=20m']);
    const robot = kubeconfigOf(stdout.trim());
    await expect(kubectl(['get', 'pods'], '', robot)).resolves.toMatchObject({ code: 0 });
    for (const argv of [
      ['get', 'secrets'],
      ['get', 'pods', '--as', 'alice'],
      ['create', 'token', 'robot'],
    ]) {
      const refused = await kubectl(argv, '', robot);
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('is forbidden')]);
    }
    const other = await kubectl(['create', 'token', 'robot', '--audience=vault']);
    const unauthorized = await kubectl(['get', 'pods'], '', kubeconfigOf(other.stdout.trim()));
    expect(unauthorized).toMatchObject({ code: 1, stderr: expect.stringMatching(/Unauthorized|logged in/) });
  }, 60_000);

  it.each<[readonly string[], string]>([
    [['robot', '--duration=5s'], 'may not specify a duration less than 10 minutes'],
    [['nobody'], 'serviceaccounts "nobody" not found'],
    [['robot', '--bound-object-kind=Secret', '--bound-object-name=none'], 'secrets "none" not found'],
  ])(
    'refuses %j',
    async (argv, message) => {
      const { code, stderr } = await kubectl(['create', 'token', ...argv]);
      expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
    },
    60_000,
  );
});

describe('kubectl auth whoami', () => {
  it('names the user', async () => {
    const { stdout } = await kubectl(['auth', 'whoami']);
    expect(stdout).toMatch(/^Username +kubernetes-admin$/m);
    expect(stdout).toMatch(/^Groups +\[system:masters system:authenticated]$/m);
  }, 60_000);
});
