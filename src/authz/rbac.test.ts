import fc from 'fast-check';
import type { KubeObject } from '../api/object';
import type { Attributes } from './attributes';
import { alwaysDeny, authorizeInOrder } from './modes';
import { RbacAuthorizer } from './rbac';
import { uncoveredRules } from './rbac-coverage';
import { ruleAllows } from './rbac-rules';

const ask = (part: Partial<Attributes>): Attributes => ({
  user: { name: 'alice', groups: ['dev', 'system:authenticated'] },
  verb: 'get',
  resourceRequest: true,
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'here',
  name: 'p',
  path: '',
  ...part,
});

const role = (name: string, rules: unknown, namespace?: string): KubeObject => ({
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  rules,
});

const binding = (name: string, roleRef: object, subjects: readonly object[], namespace?: string): KubeObject => ({
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  roleRef,
  subjects,
});

const reader = [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods', 'pods/log'] }];

describe('a policy rule', () => {
  it.each([
    ['the verb and resource it names', {}, true],
    ['a subresource it names', { subresource: 'log' }, true],
    ['no other verb', { verb: 'delete' }, false],
    ['no other group', { group: 'apps' }, false],
    ['no other resource', { resource: 'secrets' }, false],
    ['no subresource it does not name', { subresource: 'exec' }, false],
    ['no path', { resourceRequest: false, path: '/pods' }, false],
  ])('permits %s', (_, part, allowed) => {
    expect(reader.some((rule) => ruleAllows(rule, ask(part)))).toBe(allowed);
  });

  it('restricted to names permits only those', () => {
    const rule = { verbs: ['get'], apiGroups: ['*'], resources: ['*/log'], resourceNames: ['p'] };
    expect(ruleAllows(rule, ask({ subresource: 'log' }))).toBe(true);
    expect(ruleAllows(rule, ask({ subresource: 'log', name: 'q' }))).toBe(false);
    expect(ruleAllows(rule, ask({}))).toBe(false);
  });

  it('for paths permits them, and what a trailing star covers', () => {
    const rule = { verbs: ['get'], nonResourceURLs: ['/healthz', '/apis/*'] };
    const path = (text: string) => ask({ resourceRequest: false, path: text });
    expect(ruleAllows(rule, path('/healthz'))).toBe(true);
    expect(ruleAllows(rule, path('/healthz/etcd'))).toBe(false);
    expect(ruleAllows(rule, path('/apis/apps'))).toBe(true);
  });
});

describe('RBAC', () => {
  const rbac = new RbacAuthorizer();
  rbac.put('ClusterRole', role('reader', reader));
  rbac.put('Role', role('editor', [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }], 'here'));
  rbac.put(
    'RoleBinding',
    binding('dev', { kind: 'ClusterRole', name: 'reader' }, [{ kind: 'Group', name: 'dev' }], 'here'),
  );
  rbac.put(
    'RoleBinding',
    binding('bot', { kind: 'Role', name: 'editor' }, [{ kind: 'ServiceAccount', name: 'bot' }], 'here'),
  );

  it('allows by a group of the user and names the binding', async () => {
    expect(rbac.authorize(ask({}))).toEqual({
      decision: 'allow',
      reason: 'RBAC: allowed by RoleBinding "dev/here" of ClusterRole "reader" to Group "dev"',
    });
  });

  it('has no opinion where no binding reaches: another namespace, cluster scope, another user', async () => {
    for (const part of [{ namespace: 'there' }, { namespace: '' }, { user: { name: 'mallory', groups: [] } }]) {
      expect(rbac.authorize(ask(part))).toMatchObject({ decision: 'no-opinion' });
    }
  });

  it('takes a service account subject without namespace as one of the binding', async () => {
    const user = { name: 'system:serviceaccount:here:bot', groups: [] };
    expect(rbac.authorize(ask({ user, verb: 'delete' }))).toMatchObject({ decision: 'allow' });
    const stranger = { name: 'system:serviceaccount:there:bot', groups: [] };
    expect(rbac.authorize(ask({ user: stranger }))).toMatchObject({ decision: 'no-opinion' });
  });

  it('forgets a binding that changes or goes, and a role that goes', async () => {
    const changing = new RbacAuthorizer();
    const to = (name: string) => binding('b', { kind: 'ClusterRole', name: 'reader' }, [{ kind: 'User', name }]);
    changing.put('ClusterRole', role('reader', reader));
    changing.put('ClusterRoleBinding', to('alice'));
    expect(changing.authorize(ask({}))).toMatchObject({ decision: 'allow' });
    changing.put('ClusterRoleBinding', to('bob'));
    expect(changing.authorize(ask({}))).toMatchObject({ decision: 'no-opinion' });
    changing.put('ClusterRoleBinding', to('alice'));
    changing.delete('ClusterRole', role('reader', reader));
    expect(changing.authorize(ask({}))).toMatchObject({ decision: 'no-opinion' });
  });

  it('allows by the oldest of the bindings that are left, whatever came and went', () => {
    const name = fc.constantFrom('alice', 'bob');
    const subject = fc.record({ kind: fc.constantFrom('User', 'Group'), name });
    const change = fc.record({
      isGone: fc.boolean(),
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      subjects: fc.array(subject, { maxLength: 4 }),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 20 }), (changes) => {
        const changing = new RbacAuthorizer();
        changing.put('ClusterRole', role('reader', reader));
        let left: readonly (typeof changes)[number][] = [];
        for (const next of changes) {
          left = left.filter((one) => one.name !== next.name);
          const object = binding(next.name, { kind: 'ClusterRole', name: 'reader' }, next.subjects, 'here');
          if (next.isGone) {
            changing.delete('RoleBinding', object);
          } else {
            changing.put('RoleBinding', object);
            left = [...left, next];
          }
        }
        for (const kind of ['User', 'Group']) {
          const user = { name: kind === 'User' ? 'bob' : 'nobody', groups: kind === 'Group' ? ['bob'] : [] };
          const oldest = left.find(({ subjects }) => subjects.some((one) => one.kind === kind && one.name === 'bob'));
          const { reason } = changing.authorize(ask({ user }));
          const by = `RBAC: allowed by RoleBinding "${oldest?.name}/here" of ClusterRole "reader" to ${kind} "bob"`;
          expect(reason).toBe(oldest === undefined ? '' : by);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('authorizers in order', () => {
  it('let system:masters do everything before any is asked', async () => {
    const authorize = authorizeInOrder([alwaysDeny]);
    expect(await authorize(ask({ user: { name: 'a', groups: ['system:masters'] } }))).toMatchObject({
      decision: 'allow',
    });
  });

  it('refuse when none has an opinion, with every reason', async () => {
    expect(await authorizeInOrder([alwaysDeny, new RbacAuthorizer().authorize])(ask({}))).toEqual({
      decision: 'no-opinion',
      reason: 'Everything is forbidden.',
    });
  });
});

describe('the rules that others do not cover', () => {
  it('are none when wildcards cover them', () => {
    expect(uncoveredRules([{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }], reader)).toEqual([]);
  });

  it('are split to what is missing', () => {
    expect(uncoveredRules([{ verbs: ['get'], apiGroups: [''], resources: ['pods', '*/log'] }], reader)).toEqual([
      { verbs: ['list'], apiGroups: [''], resources: ['pods'] },
      { verbs: ['list'], apiGroups: [''], resources: ['pods/log'] },
    ]);
  });

  it('count a restriction to names as less than none', () => {
    const named = [{ ...reader[0], resourceNames: ['p'] }];
    expect(uncoveredRules(named, reader)).toHaveLength(4);
    expect(uncoveredRules(reader, named)).toEqual([]);
  });

  it('do not take an empty name for no name, nor a short rule for a small one', () => {
    const pods = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
    expect(uncoveredRules([{ ...pods, resourceNames: [''] }], [pods])).toEqual([pods]);
    const many = Array.from({ length: 1000 }, (_, index) => `n${index}`);
    const vast = { verbs: many, apiGroups: many, resources: many, resourceNames: many };
    expect(uncoveredRules([{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }], [vast])).toEqual([]);
    expect(uncoveredRules([vast], [vast])).toEqual([]);
    expect(() => uncoveredRules([pods], [vast])).toThrow('too many combinations');
  });
});
