import { filledInParts } from '../fill-later';
import type { KubeObject } from '../object';
import { take } from '../steps/both-forms.fixture';
import { counted, mostReads } from '../steps/counted.fixture';
import type { Steps } from '../steps/pace';
import { checkInParts } from '../validation/check-each';
import { CATALOGUE } from './catalogue';
import type { KindDefinition } from './kind-definition';

const MANY = 3_000;
const REQUEST = { user: { name: 'u', groups: [] } };

const labels = (value = 'v'): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from({ length: MANY }, (_, index) => [`k${index}`, value]));
const template = { metadata: { labels: labels() }, spec: { nodeSelector: labels(), containers: [{ name: 'c' }] } };
const selected = { selector: { matchLabels: labels() }, template };

const SPECS: Readonly<Record<string, object>> = {
  daemonsets: selected,
  deployments: selected,
  jobs: { template },
  networkpolicies: { podSelector: { matchLabels: labels() } },
  podtemplates: {},
  replicasets: selected,
  replicationcontrollers: { selector: labels(), template },
  services: { selector: labels() },
  statefulsets: { ...selected, serviceName: 's' },
};

const SHOW_NO_LABELS: ReadonlySet<string> = new Set(['jobs', 'statefulsets']);

function definitionOf(resource: string): KindDefinition {
  const found = CATALOGUE.find((definition) => definition.resource === resource);
  if (found === undefined) throw new Error(`there are no ${resource}`);
  return found;
}

function objectOf(resource: string, annotations = labels()): KubeObject {
  return { metadata: { name: 'n', uid: 'u', annotations }, spec: SPECS[resource] ?? {}, template };
}

/** What came of the steps, none of which may read a large part of what was given. */
function inTurns<Result>(steps: (of: <T>(value: T) => T) => Steps<Result>): Result {
  expect(mostReads(steps(counted))).toBeLessThan(MANY / 2);
  return take(steps((value) => value)).result;
}

describe.each(Object.keys(SPECS))('%s with thousands of labels', (resource) => {
  const { strategy, table } = definitionOf(resource);
  const object = objectOf(resource);

  test('are prepared in turns', () => {
    const { prepareForCreate = (made) => made, prepareForUpdate = (made) => made } = strategy;
    const old = { ...object, metadata: { ...object.metadata, generation: 1 } };
    expect(inTurns((of) => filledInParts(() => prepareForCreate(of(object), REQUEST as never)))).toEqual(
      prepareForCreate(object, REQUEST as never),
    );
    expect(inTurns((of) => filledInParts(() => prepareForUpdate(of(object), of(old), REQUEST as never)))).toEqual(
      prepareForUpdate(object, old, REQUEST as never),
    );
  });

  test('are checked in turns', () => {
    const { prepareForCreate = (made) => made, validateCreate, validateUpdate } = strategy;
    const prepared = prepareForCreate(object, REQUEST as never);
    expect(inTurns((of) => checkInParts(() => validateCreate?.(of(prepared), REQUEST as never) ?? []))).toEqual(
      validateCreate?.(prepared, REQUEST as never) ?? [],
    );
    expect(
      inTurns((of) => checkInParts(() => validateUpdate?.(of(prepared), of(prepared), REQUEST as never) ?? [])),
    ).toEqual(validateUpdate?.(prepared, prepared, REQUEST as never) ?? []);
  });

  test('are shown in turns', () => {
    const cells = (of: KubeObject): readonly unknown[] => table?.cells(of, 0) ?? [];
    const shown = inTurns((of) => filledInParts(() => cells(of(object))));
    expect(shown).toEqual(cells(object));
    expect(shown.some((cell) => String(cell).startsWith('k0=v,k1=v,k10=v'))).toBe(!SHOW_NO_LABELS.has(resource));
  });
});

test('the roles of a node with thousands of them are shown in turns', () => {
  const roles = Object.fromEntries(
    Array.from({ length: MANY }, (_, index) => [`node-role.kubernetes.io/r${index}`, '']),
  );
  const node = { metadata: { name: 'n', labels: roles } };
  const cells = (of: KubeObject): readonly unknown[] => definitionOf('nodes').table?.cells(of, 0) ?? [];
  const shown = inTurns((of) => filledInParts(() => cells(of(node))));
  expect(shown).toEqual(cells(node));
  expect(String(shown[2])).toMatch(/^r0,r1,r10,r100,/);
});

test('deployments count changes of their annotations, thousands of them in turns', () => {
  const { prepareForUpdate } = definitionOf('deployments').strategy;
  const old = objectOf('deployments', { ...labels(), changed: 'no' });
  const next = objectOf('deployments', { ...labels(), changed: 'yes' });
  const before = { ...old, metadata: { ...old.metadata, generation: 4 } };
  const prepared = inTurns((of) => filledInParts(() => prepareForUpdate!(of(next), of(before), REQUEST as never)));
  expect(prepared.metadata.generation).toBe(5);
});

test('daemon sets count changes deep in a large template', () => {
  const { prepareForUpdate } = definitionOf('daemonsets').strategy;
  const annotation = 'deprecated.daemonset.template.generation';
  const old = objectOf('daemonsets', { [annotation]: '4', ...labels() });
  const generationOf = (changed: KubeObject): string | undefined =>
    take(filledInParts(() => prepareForUpdate!(changed, old, REQUEST as never))).result.metadata.annotations?.[
      annotation
    ];
  const changed = { ...template, metadata: { labels: { ...labels(), [`k${MANY - 1}`]: 'w' } } };
  expect(generationOf({ ...old, metadata: { name: 'n' } })).toBe('4');
  expect(generationOf({ ...old, spec: { ...selected, template: changed } })).toBe('5');
});
