import { loadBuiltinSchema } from '../schema/builtin-schema';
import type { StructType, TypeRef } from '../schema/model';
import { filledInParts } from '../fill-later';
import type { KubeObject } from '../object';
import { take } from '../steps/both-forms.fixture';
import { counted, mostReads } from '../steps/counted.fixture';
import { CATALOGUE } from './catalogue';
import { GATED_FIELDS, gatedFields, withoutGatedFields, type FieldGate } from './gated-fields';
import type { KindDefinition } from './kind-definition';

function kindOf(kind: string): KindDefinition {
  const definition = CATALOGUE.find((one) => one.kind === kind);
  if (definition === undefined) throw new Error(`no kind ${kind}`);
  return definition;
}

function without(kind: string, ...gates: readonly FieldGate[]) {
  const { strategy } = withoutGatedFields(kindOf(kind), (gate) => !gates.includes(gate));
  return {
    created: (object: KubeObject) => strategy.prepareForCreate?.(object),
    updated: (object: KubeObject, old: KubeObject) => strategy.prepareForUpdate?.(object, old),
  };
}

const metadata = { name: 'x' };

test('what a gate drops of long lists is dropped a few items at a time', () => {
  const container = { name: 'c', securityContext: { procMount: 'Unmasked' }, livenessProbe: { periodSeconds: 1 } };
  const containers = Array.from({ length: 1_000 }, () => container);
  const pod: KubeObject = { metadata, spec: { containers } };
  const { created } = without('Pod', 'ProcMountType', 'ProbeTerminationGracePeriod');
  expect(take(filledInParts(() => created(pod))).result).toEqual(created(pod));
  expect(mostReads(filledInParts(() => created(counted(pod))))).toBeLessThan(3 * containers.length);
});

describe('a feature gate that is off', () => {
  const policy = (endPort?: number): KubeObject => ({
    metadata,
    spec: {
      podSelector: {},
      egress: [{ ports: [{ port: 80, ...(endPort === undefined ? {} : { endPort }) }] }],
      policyTypes: ['Egress'],
    },
  });

  it('drops its fields without a word', () => {
    expect(without('NetworkPolicy', 'NetworkPolicyEndPort').created(policy(90))).toMatchObject({
      spec: policy()['spec'],
    });
  });

  it('leaves them in an object that uses them already', () => {
    const { updated } = without('NetworkPolicy', 'NetworkPolicyEndPort');
    expect(updated(policy(91), policy(90))).toMatchObject({ spec: policy(91)['spec'] });
    expect(updated(policy(91), policy())).toMatchObject({ spec: policy()['spec'] });
  });

  it('works wherever there are pods', () => {
    const template = (probe: object) => ({ spec: { containers: [{ name: 'c', livenessProbe: probe }], overhead: {} } });
    const job: KubeObject = {
      metadata,
      spec: { suspend: true, template: template({ terminationGracePeriodSeconds: 5 }) },
    };
    const created = without('Job', 'SuspendJob', 'PodOverhead', 'ProbeTerminationGracePeriod').created(job);
    expect(created).toMatchObject({ spec: { template: { spec: { containers: [{ name: 'c', livenessProbe: {} }] } } } });
    expect(created?.['spec']).not.toHaveProperty('suspend');
    expect(created).not.toHaveProperty(['spec', 'template', 'spec', 'overhead']);
    expect(created).not.toHaveProperty([
      'spec',
      'template',
      'spec',
      'containers',
      '0',
      'livenessProbe',
      'terminationGracePeriodSeconds',
    ]);
  });

  it('resets how /proc is mounted, in pods, templates and policies', () => {
    const spec = (procMount?: string) => ({
      containers: [{ name: 'c', ...(procMount === undefined ? {} : { securityContext: { procMount } }) }],
    });
    const deployment = (procMount?: string): KubeObject => ({
      metadata,
      spec: { template: { spec: spec(procMount) } },
    });
    const { created, updated } = without('Deployment', 'ProcMountType');
    expect(created(deployment('Unmasked'))).toMatchObject(deployment('Default'));
    expect(created(deployment())).not.toHaveProperty('spec.template.spec.containers.0.securityContext');
    expect(updated(deployment('Unmasked'), deployment('Unmasked'))).toMatchObject(deployment('Unmasked'));
    expect(updated(deployment('Unmasked'), deployment('Default'))).toMatchObject(deployment('Default'));
    expect(without('Pod', 'ProcMountType').created({ metadata, spec: spec('Unmasked') })).toMatchObject({
      spec: spec('Default'),
    });
    expect(
      without('PodSecurityPolicy', 'ProcMountType').created({
        metadata,
        spec: { allowedProcMountTypes: ['Unmasked'] },
      }),
    ).toMatchObject({ spec: {} });
    expect(without('Pod').created({ metadata, spec: spec('Unmasked') })).toMatchObject({ spec: spec('Unmasked') });
  });

  it('holds for containers that are added to a running pod', () => {
    const pod = (...ephemeralContainers: readonly object[]): KubeObject => ({
      metadata,
      spec: { containers: [{ name: 'c' }], ephemeralContainers },
    });
    const definition = withoutGatedFields(kindOf('Pod'), (gate) => gate !== 'ProcMountType');
    const { strategy } = definition.subresources.find(({ name }) => name === 'ephemeralcontainers') ?? {};
    const added = pod({ name: 'e', securityContext: { procMount: 'Unmasked' } });
    expect(strategy?.prepareForUpdate?.(added, pod())).toMatchObject(
      pod({ name: 'e', securityContext: { procMount: 'Default' } }),
    );
  });

  it('does not concern other kinds', () => {
    expect(withoutGatedFields(kindOf('ConfigMap'), () => false)).toBe(kindOf('ConfigMap'));
    expect(withoutGatedFields(kindOf('Pod'), () => true)).toBe(kindOf('Pod'));
  });
});

describe('the fields behind feature gates', () => {
  const schema = loadBuiltinSchema();

  function leadsSomewhere(struct: StructType, [name = '', ...rest]: readonly string[]): boolean {
    const field = struct.fields.get(name);
    if (field === undefined) return false;
    const next = (type: TypeRef, path: readonly string[]): boolean => {
      if (path.length === 0) return true;
      if (path[0] === '*') return type.kind === 'list' && next(type.items, path.slice(1));
      return type.kind === 'struct' && leadsSomewhere(type, path);
    };
    return next(field.type, rest);
  }

  const cases = CATALOGUE.flatMap((definition) =>
    (Object.keys(GATED_FIELDS) as FieldGate[]).flatMap((gate) =>
      gatedFields(definition.kind, gate).map(({ path }) => [definition.kind, gate, path.join('.'), path] as const),
    ),
  );

  it.each(cases)('of %s by %s are in the schema: %s', (kind, _gate, _text, path) => {
    const { storage } = kindOf(kind);
    const struct = schema.kind(storage.group, storage.version, kind);
    expect(struct !== undefined && leadsSomewhere(struct, path)).toBe(true);
  });
});
