import { AuditPolicy, parseAuditPolicy, type AuditedRequest } from './policy';

const alice = { name: 'alice', groups: ['dev', 'system:authenticated'] };
const resource = (of: Partial<AuditedRequest>): AuditedRequest => ({
  isResourceRequest: true,
  verb: 'get',
  group: '',
  namespace: 'default',
  resource: 'configmaps',
  subresource: '',
  name: 'a',
  path: '/api/v1/namespaces/default/configmaps/a',
  ...of,
});
const path = (text: string) =>
  resource({ isResourceRequest: false, resource: '', namespace: '', name: '', path: text });
const policyOf = (...rules: object[]) => new AuditPolicy({ rules: rules });
const levelOf = (rule: object, request: AuditedRequest, user: typeof alice | undefined = alice) =>
  policyOf({ level: 'Metadata', ...rule }).verdictOn(request, user).level;

const read = (policy: object, warn: (text: string) => void = () => undefined) =>
  parseAuditPolicy(JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', ...policy }), 'p.yaml', warn);

describe('an audit policy', () => {
  it('takes the first rule that matches, and records nothing where none does', () => {
    const policy = policyOf({ level: 'None', users: ['alice'] }, { level: 'Request', verbs: ['get'] });
    expect(policy.verdictOn(resource({}), alice).level).toBe('None');
    expect(policy.verdictOn(resource({}), { ...alice, name: 'bob' }).level).toBe('Request');
    expect(policy.verdictOn(resource({ verb: 'list' }), { ...alice, name: 'bob' }).level).toBe('None');
  });

  it.each<[object, Partial<AuditedRequest>, boolean]>([
    [{ resources: [{ group: '' }] }, { resource: 'pods' }, true],
    [{ resources: [{ group: 'apps' }] }, {}, false],
    [{ resources: [{ group: '', resources: ['configmaps'] }] }, {}, true],
    [{ resources: [{ group: '', resources: ['configmaps'] }] }, { subresource: 'status' }, false],
    [{ resources: [{ group: '', resources: ['pods/log'] }] }, { resource: 'pods', subresource: 'log' }, true],
    [{ resources: [{ group: '', resources: ['pods/*'] }] }, { resource: 'pods', subresource: 'log' }, true],
    [{ resources: [{ group: '', resources: ['pods/*'] }] }, { resource: 'pods' }, true],
    [{ resources: [{ group: '', resources: ['*/status'] }] }, { subresource: 'status' }, true],
    [{ resources: [{ group: '', resources: ['*/status'] }] }, {}, false],
    [{ resources: [{ group: '', resources: ['*'] }] }, { subresource: 'status' }, true],
    [{ resources: [{ group: '', resources: ['configmaps'], resourceNames: ['a'] }] }, {}, true],
    [{ resources: [{ group: '', resources: ['configmaps'], resourceNames: ['a'] }] }, { name: '' }, false],
    [{ namespaces: ['default'] }, {}, true],
    [{ namespaces: ['other'] }, {}, false],
    [{ namespaces: [''] }, { namespace: '' }, true],
    [{ nonResourceURLs: ['*'] }, {}, false],
  ])('with %j, asked about %j, matches: %s', (rule, request, matches) => {
    expect(levelOf(rule, resource(request))).toBe(matches ? 'Metadata' : 'None');
  });

  it('knows paths with a star at their end', () => {
    expect(levelOf({ nonResourceURLs: ['/api*'] }, path('/apis/apps'))).toBe('Metadata');
    expect(levelOf({ nonResourceURLs: ['/api'] }, path('/apis'))).toBe('None');
    expect(levelOf({ namespaces: [''] }, path('/api'))).toBe('None');
  });

  it('does not apply rules about users and groups to those who are nobody', () => {
    const policy = policyOf({ level: 'Request', userGroups: ['dev'] }, { level: 'Metadata' });
    expect(policy.verdictOn(resource({}), alice).level).toBe('Request');
    expect(policy.verdictOn(resource({}), undefined).level).toBe('Metadata');
  });

  it('omits the stages of the whole policy and of the rule', () => {
    const policy = read({ omitStages: ['RequestReceived'], rules: [{ level: 'Metadata', omitStages: ['Panic'] }] });
    expect([...policy.verdictOn(resource({}), alice).omitStages]).toEqual(['RequestReceived', 'Panic']);
  });

  it.each<[string, object]>([
    ['loaded illegal policy with 0 rules', { rules: [] }],
    ['rules[0].level: Required value', { rules: [{}] }],
    [
      'rules[0].level: Unsupported value: "All": supported values: "None", "Metadata", "Request", "RequestResponse"',
      { rules: [{ level: 'All' }] },
    ],
    ["must begin with a '/' character", { rules: [{ level: 'None', nonResourceURLs: ['api'] }] }],
    ["'*' must be the final character", { rules: [{ level: 'None', nonResourceURLs: ['/a*/b'] }] }],
    ['allowed stages are', { omitStages: ['Later'], rules: [{ level: 'None' }] }],
    [
      'using resourceNames requires at least one resource',
      { rules: [{ level: 'None', resources: [{ group: '', resourceNames: ['a'] }] }] },
    ],
    [
      'rules cannot apply to both regular resources and non-resource URLs',
      { rules: [{ level: 'None', nonResourceURLs: ['/a'], namespaces: ['a'] }] },
    ],
    ['rules[0].users has the wrong type', { rules: [{ level: 'None', users: 'alice' }] }],
    ['unknown group version field "v1" in policy', { apiVersion: 'v1', rules: [{ level: 'None' }] }],
  ])('is refused where it is wrong: %s', (message, policy) => {
    expect(() => read(policy)).toThrow(message);
    expect(() => read(policy)).toThrow(/^loading audit policy file: .*: from file p.yaml$/);
  });

  it('tells of fields that nobody knows: a rule with a misspelt one is about more than it says', () => {
    const warnings: string[] = [];
    read({ rules: [{ level: 'None', user: ['alice'] }] }, (text) => warnings.push(text));
    expect(warnings).toEqual(['unknown field "rules[0].user" in audit policy p.yaml']);
  });
});
