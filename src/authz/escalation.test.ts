import type { KubeObject } from '../api/object';
import { authorizeInOrder } from './modes';
import { escalationGuard, type RbacWrite } from './escalation';
import { RbacAuthorizer } from './rbac';
import type { PolicyRule } from './rbac-rules';

const alice = { name: 'alice', groups: ['dev'] };
const held: readonly PolicyRule[] = [
  { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] },
  { verbs: ['update'], apiGroups: [''], resources: ['configmaps'], resourceNames: ['a'] },
];

function world(extra: readonly PolicyRule[] = []) {
  const rbac = new RbacAuthorizer();
  rbac.put('ClusterRole', { metadata: { name: 'held' }, rules: [...held, ...extra] });
  rbac.put('ClusterRole', {
    metadata: { name: 'big' },
    rules: [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'] }],
  });
  rbac.put('ClusterRole', {
    metadata: { name: 'small' },
    rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
  });
  rbac.put('ClusterRoleBinding', {
    metadata: { name: 'held' },
    roleRef: { kind: 'ClusterRole', name: 'held' },
    subjects: [{ kind: 'User', name: 'alice' }],
  });
  return escalationGuard(rbac, authorizeInOrder([rbac.authorize]));
}
const write = (part: Partial<RbacWrite> & { readonly object: KubeObject }): RbacWrite => ({
  resource: 'roles',
  namespace: 'ns',
  name: 'r',
  user: alice,
  oldObject: undefined,
  ...part,
});
const role = (rules: readonly PolicyRule[], fields: object = {}): KubeObject => ({
  metadata: { name: 'r' },
  rules,
  ...fields,
});
const binding = (kind: string, name: string): KubeObject => ({ metadata: { name: 'b' }, roleRef: { kind, name } });

describe('a role', () => {
  it('may be written by who holds its permissions', async () => {
    await expect(world()(write({ object: role(held) }))).resolves.toBeUndefined();
  });

  it.each<[string, readonly PolicyRule[], string]>([
    [
      'more verbs',
      [{ verbs: ['get', 'delete', 'patch'], apiGroups: [''], resources: ['pods'] }],
      '{APIGroups:[""], Resources:["pods"], Verbs:["delete" "patch"]}',
    ],
    [
      'other names',
      [{ verbs: ['update'], apiGroups: [''], resources: ['configmaps'], resourceNames: ['a', 'b'] }],
      '{APIGroups:[""], Resources:["configmaps"], ResourceNames:["b"], Verbs:["update"]}',
    ],
    [
      'all names',
      [{ verbs: ['update'], apiGroups: [''], resources: ['configmaps'] }],
      '{APIGroups:[""], Resources:["configmaps"], Verbs:["update"]}',
    ],
    [
      'paths',
      [{ verbs: ['get', 'post'], nonResourceURLs: ['/x'] }],
      '{NonResourceURLs:["/x"], Verbs:["get"]}\n{NonResourceURLs:["/x"], Verbs:["post"]}',
    ],
    [
      'everything',
      [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
      '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}',
    ],
  ])('with %s than the writer holds is refused, and what is missing is listed', async (_, rules, missing) => {
    await expect(world()(write({ object: role(rules) }))).rejects.toMatchObject({
      status: {
        code: 403,
        message: `roles.rbac.authorization.k8s.io "r" is forbidden: user "alice" (groups=["dev"]) is attempting to grant RBAC permissions not currently held:\n${missing}`,
      },
    });
  });

  it('with more may be written with the verb escalate, and by system:masters', async () => {
    const object = role([{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]);
    const escalate = { verbs: ['escalate'], apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'] };
    await expect(world([escalate])(write({ object }))).resolves.toBeUndefined();
    const user = { name: 'root', groups: ['system:masters'] };
    await expect(world()(write({ object, user }))).resolves.toBeUndefined();
  });

  it('that aggregates others takes all permissions, since it may grow', async () => {
    const object = role([], { aggregationRule: { clusterRoleSelectors: [] } });
    const aggregate = write({ resource: 'clusterroles', namespace: '', object });
    await expect(world()(aggregate)).rejects.toMatchObject({
      status: { message: expect.stringContaining('must have cluster-admin privileges to use the aggregationRule') },
    });
    const old = write({ resource: 'clusterroles', namespace: '', object: role([]), oldObject: object });
    await expect(world()(old)).rejects.toMatchObject({ status: { code: 403 } });
  });

  it('loses its finalizers and owners to whoever may update it', async () => {
    const before: KubeObject = {
      ...role([{ verbs: ['*'], nonResourceURLs: ['*'] }]),
      metadata: { name: 'r', finalizers: ['x/y'] },
    };
    const object: KubeObject = { ...before, metadata: { name: 'r' } };
    await expect(world()(write({ object, oldObject: before }))).resolves.toBeUndefined();
    const labelled: KubeObject = { ...before, metadata: { name: 'r', labels: { a: 'b' } } };
    await expect(world()(write({ object: labelled, oldObject: before }))).rejects.toMatchObject({
      status: { code: 403 },
    });
  });
});

describe('a binding', () => {
  const bind = (object: KubeObject) => write({ resource: 'rolebindings', name: 'b', object });

  it('to a role whose permissions the writer holds is fine', async () => {
    await expect(world()(bind(binding('ClusterRole', 'small')))).resolves.toBeUndefined();
  });

  it('to a role with more is refused, unless by the verb bind on that role', async () => {
    await expect(world()(bind(binding('ClusterRole', 'big')))).rejects.toMatchObject({ status: { code: 403 } });
    const verb = {
      verbs: ['bind'],
      apiGroups: ['rbac.authorization.k8s.io'],
      resources: ['clusterroles'],
      resourceNames: ['big'],
    };
    await expect(world([verb])(bind(binding('ClusterRole', 'big')))).resolves.toBeUndefined();
  });

  it('to a role that is not there is not found', async () => {
    await expect(world()(bind(binding('Role', 'nosuch')))).rejects.toMatchObject({
      status: { code: 404, message: 'roles.rbac.authorization.k8s.io "nosuch" not found' },
    });
  });
});
