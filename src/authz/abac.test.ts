import { abacAuthorizer, abacRules, parseAbacPolicies } from './abac';
import type { Attributes } from './attributes';

const line = (spec: object): string =>
  JSON.stringify({ apiVersion: 'abac.authorization.kubernetes.io/v1beta1', kind: 'Policy', spec });
const policies = parseAbacPolicies(
  [
    '# people',
    '',
    line({ user: 'alice', namespace: '*', resource: 'pods', apiGroup: '' }),
    line({ user: 'alice', readonly: true, namespace: 'ro', resource: '*', apiGroup: '*' }),
    line({ group: 'ops', namespace: '*', resource: 'deployments', apiGroup: 'apps' }),
    line({ user: 'slow', group: 'ops', namespace: '*', resource: 'nodes', apiGroup: '*' }),
    line({ user: '*', nonResourcePath: '/version' }),
    line({ group: 'ops', nonResourcePath: '/logs/*', readonly: true }),
  ].join('\n'),
  'policy.jsonl',
);
const ask = (
  part: Partial<Attributes> & { readonly groups?: readonly string[]; readonly name_?: string },
): Attributes => ({
  user: { name: part.name_ ?? 'alice', groups: part.groups ?? ['system:authenticated'] },
  verb: 'get',
  resourceRequest: part.path === undefined,
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'x',
  name: '',
  path: '',
  ...part,
});

describe('ABAC', () => {
  it.each<[boolean, string, Attributes]>([
    [true, 'the resource that a line names, in any namespace', ask({ verb: 'delete' })],
    [true, 'its subresources', ask({ subresource: 'log' })],
    [false, 'another resource', ask({ resource: 'secrets' })],
    [false, 'the same name in another group', ask({ group: 'other' })],
    [false, 'another user', ask({ name_: 'bob' })],
    [true, 'reading where a line is readonly', ask({ namespace: 'ro', resource: 'secrets', verb: 'watch' })],
    [false, 'writing where a line is readonly', ask({ namespace: 'ro', resource: 'secrets', verb: 'patch' })],
    [true, 'a member of a group', ask({ name_: 'bob', groups: ['ops'], group: 'apps', resource: 'deployments' })],
    [true, 'user and group together', ask({ name_: 'slow', groups: ['ops'], resource: 'nodes', namespace: '' })],
    [false, 'the user without the group', ask({ name_: 'slow', groups: [], resource: 'nodes', namespace: '' })],
    [true, 'a path for all who are authenticated', ask({ name_: 'x', path: '/version' })],
    [
      false,
      'that path for the anonymous',
      ask({ name_: 'system:anonymous', groups: ['system:unauthenticated'], path: '/version' }),
    ],
    [true, 'a path below a star', ask({ groups: ['ops'], path: '/logs/a' })],
    [false, 'the path above the star', ask({ groups: ['ops'], path: '/logs' })],
    [false, 'a write to a readonly path', ask({ groups: ['ops'], path: '/logs/a', verb: 'put' })],
  ])('says %p to %s', async (allowed, _, attributes) => {
    expect(await abacAuthorizer(policies)(attributes)).toEqual(
      allowed ? { decision: 'allow', reason: '' } : { decision: 'no-opinion', reason: 'No policy matched.' },
    );
  });

  it('takes lines of the first form, where leaving out means all', async () => {
    const authorize = abacAuthorizer(parseAbacPolicies('{"user":"bob","readonly":true}', 'f'));
    expect(await authorize(ask({ name_: 'bob', path: '/x' }))).toMatchObject({ decision: 'allow' });
    expect(await authorize(ask({ name_: 'bob', verb: 'create' }))).toMatchObject({ decision: 'no-opinion' });
    expect(await authorize(ask({}))).toMatchObject({ decision: 'no-opinion' });
  });

  it('lists its rules', () => {
    expect(abacRules(policies)({ name: 'alice', groups: [] }, 'q')).toEqual({
      rules: [{ verbs: ['*'], apiGroups: [''], resources: ['pods'] }],
      incomplete: false,
    });
  });

  it.each([['{"apiVersion": '], ['[]'], ['{"apiVersion":"v1","kind":"Policy","spec":{}}'], [line({ user: 7 })]])(
    'does not start with the line %s',
    (text) => {
      expect(() => parseAbacPolicies(`# first\n${text}`, 'policy.jsonl')).toThrow(
        'error reading policy file policy.jsonl, line 2:',
      );
    },
  );
});
