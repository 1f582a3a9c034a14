import type { KubeObject } from '../object';
import { jsonEqual } from '../patch/json-equal';
import {
  CLEANUP_FINALIZER,
  conditionOf,
  type Condition,
  type CustomResourceDefinition,
  type CustomResourceDefinitionStatus,
  type ResourceNames,
} from './custom-resource-definition';
import { structuralViolations } from './structural-condition';

/**
 * The status of a definition, as the controllers of apiextensions bring it about: which of its names it may have in its
 * group, whether it is served, how far its deletion is.
 */

type ConditionInput = Omit<Condition, 'lastTransitionTime'>;

const NO_NAMES: ResourceNames = { plural: '', kind: '' };

/** Names that definitions of one group have been given already. */
export interface TakenNames {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

export function takenNames(group: Iterable<CustomResourceDefinition>): TakenNames {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const { status } of group) {
    const { plural, singular = '', shortNames = [], kind, listKind = '' } = status?.acceptedNames ?? NO_NAMES;
    for (const name of [plural, singular, ...shortNames]) if (name !== '') resources.add(name);
    for (const name of [kind, listKind]) if (name !== '') kinds.add(name);
  }
  return { resources, kinds };
}

/**
 * The definition with the status that it should have beside those of its group, whose names (its own among them) are
 * taken; its own object when it has that status already. `now`: RFC 3339.
 */
export function settleNames(crd: CustomResourceDefinition, taken: TakenNames, now: string): CustomResourceDefinition {
  const { acceptedNames, condition } = acceptNames(crd, taken);
  const accepted = condition.status === 'True';
  const violations = structuralViolations(crd);
  const conditions = withConditions(
    (crd.status?.conditions ?? []).filter(({ type }) => type !== NON_STRUCTURAL || violations !== undefined),
    [
      ...approvalCondition(crd),
      condition,
      establishedCondition(crd, accepted),
      ...(violations === undefined ? [] : [nonStructural(violations)]),
    ],
    now,
  );
  return withStatus(crd, { ...crd.status, conditions, acceptedNames });
}

/** There only while something is wrong. */
const NON_STRUCTURAL = 'NonStructuralSchema';

function nonStructural(message: string): ConditionInput {
  return { type: NON_STRUCTURAL, status: 'True', reason: 'Violations', message };
}

function acceptNames(
  { spec: { names: wanted }, status }: CustomResourceDefinition,
  { resources, kinds }: TakenNames,
): { readonly acceptedNames: ResourceNames; readonly condition: ConditionInput } {
  const own = status?.acceptedNames ?? NO_NAMES;
  let problem: { readonly reason: string; readonly message: string } | undefined;
  const accept = <T extends string | undefined>(name: T, current: T, taken: ReadonlySet<string>, reason: string): T => {
    if (name === current || name === undefined || !taken.has(name)) return name;
    problem = { reason, message: inUse(name) };
    return current;
  };
  const plural = accept(wanted.plural, own.plural, resources, 'PluralConflict');
  const singular = accept(wanted.singular, own.singular, resources, 'SingularConflict');
  const conflicting = (wanted.shortNames ?? []).filter(
    (name) => own.shortNames?.includes(name) !== true && resources.has(name),
  );
  if (conflicting.length > 0) {
    const texts = conflicting.map(inUse);
    problem = { reason: 'ShortNamesConflict', message: texts.length === 1 ? texts.join() : `[${texts.join(', ')}]` };
  }
  const shortNames = conflicting.length > 0 ? own.shortNames : wanted.shortNames;
  const kind = accept(wanted.kind, own.kind, kinds, 'KindConflict');
  const listKind = accept(wanted.listKind, own.listKind, kinds, 'ListKindConflict');
  return {
    acceptedNames: {
      plural,
      ...(singular === undefined ? {} : { singular }),
      ...(shortNames === undefined ? {} : { shortNames }),
      kind,
      ...(listKind === undefined ? {} : { listKind }),
      ...(wanted.categories === undefined ? {} : { categories: wanted.categories }),
    },
    condition:
      problem === undefined
        ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
        : { type: 'NamesAccepted', status: 'False', ...problem },
  };
}

function inUse(name: string): string {
  return `${JSON.stringify(name)} is already in use`;
}

/** Once established, a definition stays so: objects may exist. */
function establishedCondition(crd: CustomResourceDefinition, accepted: boolean): ConditionInput {
  const current = conditionOf(crd, 'Established');
  if (current?.status === 'True') return current;
  return accepted
    ? {
        type: 'Established',
        status: 'True',
        reason: 'InitialNamesAccepted',
        message: 'the initial names have been accepted',
      }
    : { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' };
}

const APPROVAL = 'api-approved.kubernetes.io';
const APPROVAL_NEEDED = `protected groups must have approval annotation "${APPROVAL}"`;
const APPROVAL_LINK = 'see https://github.com/kubernetes/enhancements/pull/1111';

/** Groups of the Kubernetes project say where they were approved (CustomResourceDefinitions, "api-approved" annotation). */
function approvalCondition({ metadata, spec: { group } }: CustomResourceDefinition): readonly ConditionInput[] {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group)) return [];
  const annotation = metadata.annotations?.[APPROVAL] ?? '';
  const condition = (status: 'True' | 'False', reason: string, message: string): readonly ConditionInput[] => [
    { type: 'KubernetesAPIApprovalPolicyConformant', status, reason, message },
  ];
  if (annotation === '') return condition('False', 'MissingAnnotation', `${APPROVAL_NEEDED}, ${APPROVAL_LINK}`);
  if (/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/\s]+/.test(annotation)) {
    return condition('True', 'ApprovedAnnotation', `approved in ${annotation}`);
  }
  if (annotation.startsWith('unapproved')) {
    return condition('False', 'UnapprovedAnnotation', `not approved: ${JSON.stringify(annotation)}`);
  }
  const advice = `with either a URL or a reason starting with "unapproved", ${APPROVAL_LINK}`;
  return condition('False', 'InvalidAnnotation', `${APPROVAL_NEEDED} ${advice}`);
}

/** What the first delete makes of a definition: it stays until its objects are gone. `now`: RFC 3339. */
export function markForCleanup(object: KubeObject, now: string): KubeObject {
  const { finalizers = [] } = object.metadata;
  const marked = withCondition(object as CustomResourceDefinition, now, {
    type: 'Terminating',
    status: 'True',
    reason: 'InstanceDeletionPending',
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  });
  if (finalizers.includes(CLEANUP_FINALIZER)) return marked;
  return { ...marked, metadata: { ...marked.metadata, finalizers: [...finalizers, CLEANUP_FINALIZER] } };
}

/** A deleted definition while its objects are being deleted. */
export function deletionInProgress(crd: CustomResourceDefinition, now: string): CustomResourceDefinition {
  return withCondition(crd, now, {
    type: 'Terminating',
    status: 'True',
    reason: 'InstanceDeletionInProgress',
    message: 'CustomResource deletion is in progress',
  });
}

/** A deleted definition that has no objects any more: nothing holds it. */
export function deletionCompleted(crd: CustomResourceDefinition, now: string): CustomResourceDefinition {
  const done = withCondition(crd, now, {
    type: 'Terminating',
    status: 'False',
    reason: 'InstanceDeletionCompleted',
    message: 'removed all instances',
  });
  const { finalizers = [], ...metadata } = done.metadata;
  const others = finalizers.filter((name) => name !== CLEANUP_FINALIZER);
  return { ...done, metadata: others.length === 0 ? metadata : { ...metadata, finalizers: others } };
}

function withCondition(
  crd: CustomResourceDefinition,
  now: string,
  condition: ConditionInput,
): CustomResourceDefinition {
  return withStatus(crd, { ...crd.status, conditions: withConditions(crd.status?.conditions ?? [], [condition], now) });
}

/** Conditions of a new type come last; a time changes only with the status. */
function withConditions(
  current: readonly Condition[],
  next: readonly ConditionInput[],
  now: string,
): readonly Condition[] {
  const merged = new Map(current.map((condition) => [condition.type, condition]));
  for (const condition of next) {
    const before = merged.get(condition.type);
    const lastTransitionTime =
      before?.status === condition.status && before.lastTransitionTime ? before.lastTransitionTime : now;
    merged.set(condition.type, { ...condition, lastTransitionTime });
  }
  return [...merged.values()];
}

function withStatus(crd: CustomResourceDefinition, status: CustomResourceDefinitionStatus): CustomResourceDefinition {
  return jsonEqual(crd.status, status) ? crd : { ...crd, status };
}
