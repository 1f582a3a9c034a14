import { policyVersions } from '../kinds/admissionregistration/policy-versions';
import type { FieldError } from '../errors/field-error';
import { atOnce } from '../parts';
import { checkPolicyExpressions, validateAdmissionPolicy, validatePolicyBinding } from './admission-policy';

const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] };
const matchConstraints = { resourceRules: [rule] };
const validations = [{ expression: 'true' }];
const policy = (spec: object, name = 'p') => ({
  metadata: { name },
  spec: { matchConstraints, validations, failurePolicy: 'Fail', ...spec },
});

function texts(errors: readonly FieldError[]): readonly string[] {
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

describe('a policy', () => {
  it.each<[string, object, readonly string[]]>([
    ['that is complete', {}, []],
    [
      'whose messages say nothing or go over lines',
      {
        validations: [
          { expression: 'true', message: ' ' },
          { expression: 'true', message: 'a\nb' },
          { expression: 'true', message: 'one line\n', reason: 'Conflict' },
        ],
      },
      [
        'spec.validations[0].message: Invalid value: " ": message must be non-empty if specified',
        'spec.validations[1].message: Invalid value: "a\\nb": message must not contain line breaks',
        'spec.validations[2].reason: Unsupported value: "Conflict": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"',
      ],
    ],
    [
      'with annotations of one key, and of none',
      {
        auditAnnotations: [
          { key: 'a', valueExpression: "'x'" },
          { key: 'a', valueExpression: `'${'x'.repeat(5200)}'` },
          { key: '', valueExpression: 'null' },
        ],
      },
      [
        'spec.auditAnnotations[1].key: Duplicate value: "a"',
        'spec.auditAnnotations[1].valueExpression: Required value: must not exceed 5120 bytes in length',
        'spec.auditAnnotations[2].key: Required value',
      ],
    ],
    [
      'with conditions of one name',
      {
        matchConditions: [
          { name: 'a', expression: 'true' },
          { name: 'a', expression: '' },
        ],
      },
      ['spec.matchConditions[1].expression: Required value', 'spec.matchConditions[1].name: Duplicate value: "a"'],
    ],
    [
      'about one name twice, and about none that there can be',
      { matchConstraints: { resourceRules: [{ ...rule, resourceNames: ['a', 'a', 'b/c'] }] } },
      [
        'spec.matchConstraints.resourceRules[0].resourceNames[1]: Duplicate value: "a"',
        `spec.matchConstraints.resourceRules[0].resourceNames[2]: Invalid value: "b/c": may not contain '/'`,
      ],
    ],
    [
      'whose parameters have no version',
      { paramKind: { apiVersion: 'a/b/c', kind: 'X' } },
      ['spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
    ],
  ])('%s', (_what, spec, expected) => {
    expect(texts(validateAdmissionPolicy(policy(spec)))).toEqual(expected);
  });

  it('writes at most twenty annotations, under its own name', () => {
    const many = Array.from({ length: 21 }, (_, index) => ({ key: `k${index}`, valueExpression: "''" }));
    expect(texts(validateAdmissionPolicy(policy({ auditAnnotations: many })))).toEqual([
      expect.stringContaining('must not have more than 20 auditAnnotations'),
    ]);
    const [error] = validateAdmissionPolicy(policy({ auditAnnotations: [{ key: 'a/b', valueExpression: "''" }] }));
    expect(error?.message).toContain('Invalid value: "p/a/b"');
  });

  it('has annotations whose values are texts or nothing, and messages that are expressions', () => {
    const spec = {
      auditAnnotations: [
        { key: 'a', valueExpression: "'x'" },
        { key: 'b', valueExpression: 'null' },
        { key: 'c', valueExpression: 'object.spec.nodeName' },
        { key: 'd', valueExpression: '1' },
      ],
      validations: [{ expression: 'true', messageExpression: '  ' }],
    };
    expect(texts(atOnce(checkPolicyExpressions(policy(spec), undefined)))).toEqual([
      'spec.validations[0].messageExpression: Invalid value: "  ": must be non-empty if specified',
      'spec.auditAnnotations[3].valueExpression: Invalid value: "1": must evaluate to one of [string null_type]',
    ]);
  });

  it('has the same versions as its binding', () => {
    expect(policyVersions('X').map((version) => (typeof version === 'string' ? version : version.version))).toEqual([
      'v1',
      'v1beta1',
    ]);
  });
});

describe('a binding', () => {
  it('names a policy that there can be, and each action once', () => {
    const spec = { policyName: 'No Name', validationActions: ['Deny', 'Audit', 'Deny'] };
    const [name, action, ...more] = texts(validatePolicyBinding({ metadata: { name: 'b' }, spec }));
    expect(name).toContain('spec.policyName: Invalid value: "No Name"');
    expect(action).toBe('spec.validationActions[2]: Duplicate value: "Deny"');
    expect(more).toEqual([]);
  });
});
