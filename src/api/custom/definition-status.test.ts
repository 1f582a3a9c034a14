import { CLEANUP_FINALIZER, type CustomResourceDefinition, type ResourceNames } from './custom-resource-definition';
import { deletionCompleted, deletionInProgress, markForCleanup, settleNames, takenNames } from './definition-status';

const NOW = '2024-01-02T03:04:05Z';

function definition(names: ResourceNames, group = 'example.com'): CustomResourceDefinition {
  return {
    metadata: { name: `${names.plural}.${group}` },
    spec: { group, scope: 'Namespaced', names, versions: [{ name: 'v1', served: true, storage: true }] },
    status: { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] },
  };
}

function conditions({ status }: CustomResourceDefinition): readonly string[] {
  return (status?.conditions ?? []).map(
    ({ type, status: value, reason, message }) => `${type} ${value} ${reason}: ${message}`,
  );
}

const THINGS = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList', shortNames: ['tg'] };

describe('definitions that preserve unknown fields', () => {
  const preserving = definition(THINGS);
  const settled = settleNames(
    {
      ...preserving,
      spec: {
        ...preserving.spec,
        preserveUnknownFields: true,
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { properties: {} } } }],
      },
    },
    takenNames([]),
    NOW,
  );

  it('say what is in the way of pruning', () => {
    expect(conditions(settled).at(-1)).toBe(
      'NonStructuralSchema True Violations: [spec.preserveUnknownFields: Invalid value: true: must be false, ' +
        'spec.versions[0].schema.openAPIV3Schema.type: Required value: must not be empty at the root]',
    );
  });

  it('say so no longer once they prune', () => {
    const mended = settleNames({ ...settled, spec: preserving.spec }, takenNames([settled]), NOW);
    expect(conditions(mended).some((text) => text.startsWith('NonStructuralSchema'))).toBe(false);
  });
});

describe('the names of definitions', () => {
  const things = settleNames(definition(THINGS), takenNames([]), NOW);

  it('are accepted when nobody has them, and establish the definition', () => {
    expect(things.status?.acceptedNames).toEqual(THINGS);
    expect(conditions(things)).toEqual([
      'NamesAccepted True NoConflicts: no conflicts found',
      'Established True InitialNamesAccepted: the initial names have been accepted',
    ]);
    expect(things.status?.conditions?.map(({ lastTransitionTime }) => lastTransitionTime)).toEqual([NOW, NOW]);
  });

  it('are settled once: the same definition comes back', () => {
    expect(settleNames(things, takenNames([things]), '2030-01-01T00:00:00Z')).toBe(things);
  });

  it('that another definition has are refused, and the others accepted', () => {
    const others = { plural: 'others', singular: 'other', kind: 'Thing', listKind: 'ThingList' };
    const settled = settleNames(definition(others), takenNames([things]), NOW);
    expect(settled.status?.acceptedNames).toEqual({ plural: 'others', singular: 'other', kind: '' });
    expect(conditions(settled)).toEqual([
      'NamesAccepted False ListKindConflict: "ThingList" is already in use',
      'Established False NotAccepted: not all names are accepted',
    ]);
    expect(settleNames(settled, takenNames([settled]), NOW).status?.acceptedNames).toEqual(others);
  });

  it('may not be the short names of another', () => {
    const settled = settleNames(definition({ plural: 'tg', kind: 'Third' }), takenNames([things]), NOW);
    expect(conditions(settled)[0]).toBe('NamesAccepted False PluralConflict: "tg" is already in use');
  });

  it('that come into conflict later leave the definition established', () => {
    const renamed = { ...things, spec: { ...things.spec, names: { ...THINGS, shortNames: ['xx'] } } };
    const holder = settleNames(definition({ plural: 'xx', kind: 'Xx' }), takenNames([]), NOW);
    const settled = settleNames(renamed, takenNames([things, holder]), NOW);
    expect(settled.status?.acceptedNames?.shortNames).toEqual(['tg']);
    expect(conditions(settled)).toEqual([
      'NamesAccepted False ShortNamesConflict: "xx" is already in use',
      'Established True InitialNamesAccepted: the initial names have been accepted',
    ]);
  });
});

describe('groups of the project', () => {
  it.each([
    [undefined, 'False MissingAnnotation'],
    ['https://github.com/kubernetes/kubernetes/pull/1', 'True ApprovedAnnotation'],
    ['unapproved, an experiment', 'False UnapprovedAnnotation'],
    ['nonsense', 'False InvalidAnnotation'],
  ])('with the annotation %s are %s', (annotation, expected) => {
    const crd = definition(THINGS, 'sub.k8s.io');
    const annotations = annotation === undefined ? {} : { 'api-approved.kubernetes.io': annotation };
    const settled = settleNames({ ...crd, metadata: { ...crd.metadata, annotations } }, takenNames([]), NOW);
    expect(conditions(settled)[0]).toContain(`KubernetesAPIApprovalPolicyConformant ${expected}`);
  });
});

describe('the deletion of a definition', () => {
  it('waits for its objects', () => {
    const marked = markForCleanup(definition(THINGS), NOW) as CustomResourceDefinition;
    expect(marked.metadata.finalizers).toEqual([CLEANUP_FINALIZER]);
    expect(conditions(marked)[0]).toContain('Terminating True InstanceDeletionPending');
    expect(conditions(deletionInProgress(marked, NOW))[0]).toContain('Terminating True InstanceDeletionInProgress');
  });

  it('takes away the finalizer when they are gone, and no other', () => {
    const marked = markForCleanup({ ...definition(THINGS), metadata: { finalizers: ['a/b'] } }, NOW);
    const done = deletionCompleted(marked as CustomResourceDefinition, NOW);
    expect(done.metadata.finalizers).toEqual(['a/b']);
    expect(conditions(done)[0]).toContain('Terminating False InstanceDeletionCompleted');
  });
});
