import type { FieldError } from '../errors/field-error';
import { validateBinding, validateBindingUpdate, validateRole, validateRoleUpdate } from './rbac';

const metadata = { name: 'x' };
const inNamespace = { namespaced: true };
const everywhere = { namespaced: false };

function texts(errors: readonly FieldError[]): readonly string[] {
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

describe('roles', () => {
  test.each<[string, object, readonly string[]]>([
    ['everything it needs', { verbs: ['get'], apiGroups: [''], resources: ['pods'] }, []],
    [
      'nothing',
      {},
      [
        'rules[0].verbs: Required value: verbs must contain at least one value',
        'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
        'rules[0].resources: Required value: resource rules must supply at least one resource',
      ],
    ],
    [
      'paths and resources',
      { verbs: ['get'], resources: ['pods'], nonResourceURLs: ['/x'] },
      [
        'rules[0].nonResourceURLs: Invalid value: []string{"/x"}: namespaced rules cannot apply to non-resource URLs',
        'rules[0].nonResourceURLs: Invalid value: []string{"/x"}: rules cannot apply to both regular resources and non-resource URLs',
      ],
    ],
  ])('a rule with %s', (_case, rule, expected) => {
    expect(texts(validateRole(inNamespace)({ metadata, rules: [rule] }))).toEqual(expected);
    expect(texts(validateRoleUpdate(inNamespace)({ metadata, rules: [rule] }))).toEqual([...expected, ...expected]);
  });

  test('a cluster role may speak of paths, and must say what it aggregates', () => {
    const rules = [{ verbs: ['get'], nonResourceURLs: ['/healthz'] }];
    expect(validateRole(everywhere)({ metadata, rules })).toEqual([]);
    expect(texts(validateRole(everywhere)({ metadata, rules: null, aggregationRule: {} }))).toEqual([
      'aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil',
    ]);
  });
});

describe('role bindings', () => {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' };

  test.each<[string, object, object, readonly string[]]>([
    ['a role', inNamespace, { roleRef }, []],
    [
      'a role of a namespace everywhere',
      everywhere,
      { roleRef },
      ['roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"'],
    ],
    [
      'nothing',
      inNamespace,
      {},
      [
        'roleRef.apiGroup: Unsupported value: "": supported values: "rbac.authorization.k8s.io"',
        'roleRef.kind: Unsupported value: "": supported values: "Role", "ClusterRole"',
        'roleRef.name: Required value',
      ],
    ],
    [
      'subjects of all sorts',
      everywhere,
      {
        roleRef: { ...roleRef, kind: 'ClusterRole' },
        subjects: [
          { kind: 'User' },
          { kind: 'Robot', name: 'x' },
          { kind: 'ServiceAccount', name: 's', apiGroup: 'g' },
          { kind: 'Group', name: 'g', apiGroup: 'rbac.authorization.k8s.io' },
        ],
      },
      [
        'subjects[0].name: Required value',
        'subjects[0].apiGroup: Unsupported value: "": supported values: "rbac.authorization.k8s.io"',
        'subjects[1].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"',
        'subjects[2].apiGroup: Unsupported value: "g": supported values: ""',
        'subjects[2].namespace: Required value',
      ],
    ],
  ])('to %s', (_case, scope, binding, expected) => {
    expect(texts(validateBinding(scope as { namespaced: boolean })({ metadata, ...binding }))).toEqual(expected);
  });

  test('the role cannot change', () => {
    const old = { metadata, roleRef };
    expect(validateBindingUpdate(inNamespace)({ ...old, subjects: [] }, old)).toEqual([]);
    expect(texts(validateBindingUpdate(inNamespace)({ metadata, roleRef: { ...roleRef, name: 'z' } }, old))).toEqual([
      'roleRef: Invalid value: rbac.RoleRef{APIGroup:"rbac.authorization.k8s.io", Kind:"Role", Name:"z"}: cannot change roleRef',
    ]);
  });
});
