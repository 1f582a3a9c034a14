import fc from 'fast-check';
import type { KubeObject } from '../api/object';
import type { UserInfo } from '../api/user';
import type { Attributes } from './attributes';
import { authorizeInOrder } from './modes';
import { RbacAuthorizer, type RbacKind } from './rbac';
import type { PolicyRule } from './rbac-rules';

/** The rules of RBAC, read off the documentation and evaluated over every object: slow, and plain. */
function plainlyAllowed(objects: readonly (readonly [RbacKind, KubeObject])[], request: Attributes): boolean {
  const rulesOf = (kind: string, namespace: string, name: string): readonly PolicyRule[] =>
    objects
      .filter(
        ([one, { metadata }]) => one === kind && metadata.name === name && (metadata.namespace ?? '') === namespace,
      )
      .flatMap(([, object]) => object.rules as readonly PolicyRule[]);
  return objects.some(([kind, binding]) => {
    if (kind !== 'ClusterRoleBinding' && kind !== 'RoleBinding') return false;
    const { namespace = '' } = binding.metadata;
    if (kind === 'RoleBinding' && (request.namespace === '' || namespace !== request.namespace)) return false;
    const subjects = binding.subjects as readonly { kind: string; name: string; namespace?: string }[];
    if (!subjects.some((subject) => isMeant(subject, namespace, request.user))) return false;
    const roleRef = binding.roleRef as { kind: string; name: string };
    const rules = rulesOf(roleRef.kind, roleRef.kind === 'Role' ? namespace : '', roleRef.name);
    return rules.some((rule) => permits(rule, request));
  });
}

function isMeant(
  subject: { readonly kind: string; readonly name: string; readonly namespace?: string },
  bindingNamespace: string,
  { name, groups }: UserInfo,
): boolean {
  if (subject.kind === 'User') return subject.name === name;
  if (subject.kind === 'Group') return groups.includes(subject.name);
  if (subject.kind !== 'ServiceAccount') return false;
  const namespace = subject.namespace ?? bindingNamespace;
  return namespace !== '' && name === `system:serviceaccount:${namespace}:${subject.name}`;
}

function permits(
  { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule,
  request: Attributes,
): boolean {
  if (!verbs.includes('*') && !verbs.includes(request.verb)) return false;
  if (!request.resourceRequest) {
    return nonResourceURLs.some((url) =>
      url.endsWith('*') ? request.path.startsWith(url.slice(0, -1)) : url === request.path,
    );
  }
  const { subresource } = request;
  const full = subresource === '' ? request.resource : `${request.resource}/${subresource}`;
  return (
    (apiGroups.includes('*') || apiGroups.includes(request.group)) &&
    (resources.includes('*') ||
      resources.includes(full) ||
      (subresource !== '' && resources.includes(`*/${subresource}`))) &&
    (resourceNames.length === 0 || resourceNames.includes(request.name))
  );
}

const some = <T>(...values: readonly T[]) => fc.subarray([...values], { minLength: 1 });
const verbs = some('get', 'list', 'watch', 'delete', 'deletecollection', 'impersonate', 'bind', '*');
const rule: fc.Arbitrary<PolicyRule> = fc.oneof(
  fc.record({
    verbs,
    apiGroups: some('', 'apps', '*'),
    resources: some('pods', 'pods/log', '*/scale', 'secrets', '*', 'deployments/scale'),
    resourceNames: fc.subarray(['a', 'b']),
  }),
  fc.record({ verbs, nonResourceURLs: some('/healthz', '/api/*', '*', '/') }),
);
const name = fc.constantFrom('r1', 'r2', 'r3');
const namespace = fc.constantFrom('n1', 'n2');
const subject = fc.oneof(
  fc.record({ kind: fc.constant('User'), name: fc.constantFrom('alice', 'system:serviceaccount:n1:bot') }),
  fc.record({
    kind: fc.constant('Group'),
    name: fc.constantFrom('dev', 'system:authenticated', 'system:unauthenticated'),
  }),
  fc.record({ kind: fc.constant('ServiceAccount'), name: fc.constant('bot'), namespace }),
  fc.record({ kind: fc.constant('ServiceAccount'), name: fc.constant('bot') }),
);
const subjects = fc.array(subject, { maxLength: 3 });
const roleRef = fc.record({ kind: fc.constantFrom('Role', 'ClusterRole'), name });
const rules = fc.array(rule, { maxLength: 3 });
const object: fc.Arbitrary<readonly [RbacKind, KubeObject]> = fc.oneof(
  fc.record({ metadata: fc.record({ name }), rules }).map((role) => ['ClusterRole', role] as const),
  fc.record({ metadata: fc.record({ name, namespace }), rules }).map((role) => ['Role', role] as const),
  fc
    .record({ metadata: fc.record({ name }), roleRef: fc.record({ kind: fc.constant('ClusterRole'), name }), subjects })
    .map((binding) => ['ClusterRoleBinding', binding] as const),
  fc
    .record({ metadata: fc.record({ name, namespace }), roleRef, subjects })
    .map((binding) => ['RoleBinding', binding] as const),
);
const request: fc.Arbitrary<Attributes> = fc.record({
  user: fc.record({
    name: fc.constantFrom(
      'alice',
      'bob',
      'system:anonymous',
      'system:serviceaccount:n1:bot',
      'system:serviceaccount:n2:bot',
      // Names that only look like those of accounts.
      'system:serviceaccount::bot',
      'system:serviceaccount:n1:bot:x',
    ),
    groups: fc.subarray(['dev', 'system:authenticated', 'system:unauthenticated', 'system:masters']),
  }),
  verb: fc.constantFrom('get', 'list', 'watch', 'create', 'deletecollection', 'impersonate', 'bind'),
  resourceRequest: fc.boolean(),
  group: fc.constantFrom('', 'apps'),
  version: fc.constant('v1'),
  resource: fc.constantFrom('pods', 'secrets', 'deployments'),
  subresource: fc.constantFrom('', 'log', 'scale'),
  namespace: fc.constantFrom('', 'n1', 'n2'),
  name: fc.constantFrom('', 'a', 'c'),
  path: fc.constantFrom('/healthz', '/api/v1', '/'),
});

const keyOf = ([kind, { metadata }]: readonly [RbacKind, KubeObject]): string =>
  `${kind} ${metadata.namespace ?? ''}/${metadata.name ?? ''}`;

describe('the index of RBAC', () => {
  it('decides as a plain evaluation of all roles and bindings, after any changes and deletions', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(object, fc.boolean()), { maxLength: 25 }),
        fc.array(request, { minLength: 1, maxLength: 20 }),
        async (changes, requests) => {
          const rbac = new RbacAuthorizer();
          const left = new Map<string, readonly [RbacKind, KubeObject]>();
          for (const [change, deleted] of changes) {
            const [kind, value] = change;
            if (deleted) {
              const known = left.get(keyOf(change));
              rbac.delete(kind, known?.[1] ?? value);
              left.delete(keyOf(change));
            } else {
              rbac.put(kind, value);
              left.set(keyOf(change), change);
            }
          }
          const objects = [...left.values()];
          for (const asked of requests) {
            // A path belongs to no namespace.
            const attributes = asked.resourceRequest ? asked : { ...asked, namespace: '' };
            const { decision } = rbac.authorize(attributes);
            expect(decision === 'allow').toBe(plainlyAllowed(objects, attributes));
            const master = attributes.user.groups.includes('system:masters');
            const inOrder = await authorizeInOrder([rbac.authorize])(attributes);
            expect(inOrder.decision === 'allow').toBe(master || decision === 'allow');
            const listed = rbac.rulesFor(attributes.user, attributes.namespace).rules;
            expect(listed.some((one) => permits(one, attributes))).toBe(decision === 'allow');
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
