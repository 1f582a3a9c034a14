import { atOnce } from '../../api/parts';
import { parseApiVersion } from '../../api/object';
import { loadBuiltinSchema } from '../../api/schema/builtin-schema';
import type { StructType } from '../../api/schema/model';
import type { PolicySpec } from './policy';
import { typeWarnings, type ExpressionWarning, type TypedKinds } from './type-checking';

const schema = loadBuiltinSchema();
const KINDS: Readonly<Record<string, string>> = {
  deployments: 'Deployment',
  replicasets: 'ReplicaSet',
  configmaps: 'ConfigMap',
  pods: 'Pod',
};
const openStruct: StructType = { ...schema.kind('', 'v1', 'ConfigMap')!, preserveUnknownFields: true };
const kinds: TypedKinds = {
  ofResource: (group, version, resource) => {
    const kind = KINDS[resource] ?? '';
    const type = resource === 'opens' ? openStruct : schema.kind(group, version, kind);
    return type && { kind: { group, version, kind }, type };
  },
  ofKind: (apiVersion, kind) => {
    const { group, version } = parseApiVersion(apiVersion);
    return schema.kind(group, version, kind);
  },
};

function warningsOf(spec: PolicySpec, ...rules: readonly (readonly [string, string, string])[]): ExpressionWarning[] {
  const resourceRules = rules.map(([group, version, resource]) => ({
    apiGroups: [group],
    apiVersions: [version],
    resources: [resource],
    operations: ['CREATE'],
  }));
  return [...atOnce(typeWarnings({ ...spec, matchConstraints: { resourceRules } }, kinds))];
}

const expression = (text: string): PolicySpec => ({ validations: [{ expression: text }] });

describe('the check of the types of a policy', () => {
  it('tells of a field that the kind does not have, and where', () => {
    expect(warningsOf(expression('object.replicas > 1'), ['apps', 'v1', 'deployments'])).toEqual([
      {
        fieldRef: 'spec.validations[0].expression',
        warning:
          "apps/v1, Kind=Deployment: ERROR: <input>:1:7: undefined field 'replicas'\n | object.replicas > 1\n | ......^",
      },
    ]);
  });

  it('says it of each kind that the rules name, in order', () => {
    const [only, ...none] = warningsOf(
      expression('object.replicas > 1'),
      ['apps', 'v1', 'replicasets'],
      ['apps', 'v1', 'deployments'],
      ['', 'v1', 'configmaps'],
    );
    expect(none).toEqual([]);
    expect(only!.warning.match(/^\S*, Kind=\w+/gm)).toEqual([
      '/v1, Kind=ConfigMap',
      'apps/v1, Kind=Deployment',
      'apps/v1, Kind=ReplicaSet',
    ]);
  });

  it('tells of types that do not fit, and of messages', () => {
    const validations = [{ expression: "object.spec.replicas == 'three'", messageExpression: 'string(object.spek)' }];
    expect(warningsOf({ validations }, ['apps', 'v1', 'deployments'])).toEqual([
      {
        fieldRef: 'spec.validations[0].expression',
        warning: expect.stringContaining("found no matching overload for '_==_' applied to '(int, string)'"),
      },
      {
        fieldRef: 'spec.validations[0].messageExpression',
        warning: expect.stringContaining("undefined field 'spek'"),
      },
    ]);
  });

  it('knows the types of variables, parameters and namespaces', () => {
    const spec: PolicySpec = {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      variables: [
        { name: 'replicas', expression: 'object.spec.replicas' },
        { name: 'doubled', expression: 'variables.replicas * 2' },
        { name: 'wrong', expression: 'object.nothing' },
      ],
      validations: [
        { expression: "variables.doubled == 'x'" },
        { expression: 'params.dat.limit > 1' },
        { expression: 'namespaceObject.metadata.label.a == ""' },
        { expression: 'variables.wrong.anything > 1 && int(params.data.limit) > variables.doubled' },
      ],
    };
    const warnings = warningsOf(spec, ['apps', 'v1', 'deployments']);
    expect(warnings.map(({ fieldRef }) => fieldRef)).toEqual([
      'spec.validations[0].expression',
      'spec.validations[1].expression',
      'spec.validations[2].expression',
    ]);
  });

  it.each([
    ["object.metadata.labels['a'] == 'b' && has(object.spec.template.spec.securityContext.runAsNonRoot)"],
    ["object.spec.template.spec.containers.all(c, c.image.startsWith('registry/') && size(c.ports) < 3)"],
    ['oldObject == null || object.spec.replicas >= oldObject.spec.replicas'],
    ["request.userInfo.username != '' && authorizer.requestResource.check('get').allowed()"],
    ["object.kind == 'Deployment' && object.apiVersion == 'apps/v1'"],
    ['object.metadata.creationTimestamp < timestamp("2020-01-01T00:00:00Z")'],
    ["object.spec.strategy.rollingUpdate.maxSurge == '25%' || object.spec.strategy.rollingUpdate.maxSurge == 1"],
    ["quantity(object.spec.template.spec.containers[0].resources.limits['cpu']).isLessThan(quantity('1'))"],
  ])('has nothing against %s', (text) => {
    expect(warningsOf(expression(text), ['apps', 'v1', 'deployments'])).toEqual([]);
  });

  it.each<[string, readonly [string, string, string]]>([
    ['all groups', ['*', 'v1', 'deployments']],
    ['all versions', ['apps', '*', 'deployments']],
    ['all resources', ['apps', 'v1', '*']],
    ['a subresource', ['apps', 'v1', 'deployments/status']],
    ['what is not served', ['apps', 'v1', 'others']],
    ['a kind without a schema', ['', 'v1', 'opens']],
  ])('cannot say anything about %s', (_what, rule) => {
    expect(warningsOf(expression('object.replicas > 1'), rule)).toEqual([]);
  });

  it('looks at ten kinds at most', () => {
    const found: string[] = [];
    const many: TypedKinds = {
      ...kinds,
      ofResource: (group, version, resource) => {
        found.push(resource);
        return { kind: { group, version, kind: resource }, type: schema.kind('', 'v1', 'ConfigMap')! };
      },
    };
    const rule = {
      apiGroups: [''],
      apiVersions: ['v1'],
      resources: Array.from({ length: 30 }, (_, index) => `r${index}`),
      operations: ['CREATE'],
    };
    atOnce(typeWarnings({ ...expression('true'), matchConstraints: { resourceRules: [rule] } }, many));
    expect(found).toHaveLength(10);
  });
});
