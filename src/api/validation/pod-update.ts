import { forbiddenField, invalid, required, type FieldError } from '../errors/field-error';
import type { KubeObject } from '../object';
import type { Container, Pod, PodSpec } from '../schema/generated/core-v1';
import type { Steps } from '../parts';
import { equalApartFrom } from '../patch/json-equal';
import * as inSteps from '../steps/generated/patch/finished-equal';
import { checkEach, checkInSteps, checkThen, isForLater } from './check-each';
import { validatePod } from './pod';
import { validatePodAnnotationsUpdate } from './pod/annotations';
import { describeChangedFields } from './pod/changed-fields';
import { validateImageSpelling } from './pod/containers';
import { validateRange } from './pod/field-rules';
import { MAX_DEADLINE_SECONDS } from './pod/pod-spec';
import { validateAddedTolerations } from './pod/tolerations';

/** Which fields of a pod may change once it is there (Pod lifecycle, "Pod update and replacement"). */

const REFUSAL =
  'pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, ' +
  '`spec.activeDeadlineSeconds` or `spec.tolerations` (only additions to existing tolerations)';

function validateImages(containers: readonly Container[], path: string): readonly FieldError[] {
  return checkEach(containers, (container, index) => [
    ...(container.image ? [] : [required(`${path}[${index}].image`, '')]),
    ...validateImageSpelling(container, `${path}[${index}]`),
  ]);
}

interface Checked {
  readonly errors: readonly FieldError[];
  /** What follows cannot be judged. */
  readonly final: boolean;
}

function checkContainers(containers: readonly Container[], old: readonly Container[], path: string): Checked {
  return containers.length === old.length
    ? { errors: validateImages(containers, path), final: false }
    : { errors: [forbiddenField(path, 'pod updates may not add or remove containers')], final: true };
}

/** A deadline may come, and come nearer. */
function checkDeadline(deadline: number | bigint | undefined, old: number | bigint | undefined): Checked {
  const field = 'spec.activeDeadlineSeconds';
  if (deadline === undefined) {
    const gone = invalid(field, 'null', 'must not update from a positive integer to nil value');
    return { errors: old === undefined ? [] : [gone], final: false };
  }
  const outside = validateRange(deadline, 0, MAX_DEADLINE_SECONDS, field);
  if (outside.length > 0) return { errors: outside, final: true };
  return old !== undefined && old < deadline
    ? { errors: [invalid(field, deadline, 'must be less than or equal to previous value')], final: true }
    : { errors: [], final: false };
}

function withImagesOf(containers: readonly Container[], old: readonly Container[]): readonly Container[] {
  return containers.map((container, index) => {
    const { image: _image, ...rest } = container;
    const before = old[index]?.image;
    return before === undefined ? rest : { ...rest, image: before };
  });
}

type Fields = Readonly<Record<string, unknown>>;

/** The spec with the old values of everything that may change. */
function withoutAllowedChanges(spec: PodSpec, old: PodSpec): Fields {
  const grace = old.terminationGracePeriodSeconds;
  const mended = grace !== undefined && grace < 0 && spec.terminationGracePeriodSeconds === 1;
  return {
    ...spec,
    containers: withImagesOf(spec.containers ?? [], old.containers ?? []),
    initContainers: withImagesOf(spec.initContainers ?? [], old.initContainers ?? []),
    activeDeadlineSeconds: old.activeDeadlineSeconds,
    tolerations: old.tolerations,
    schedulingGates: old.schedulingGates,
    // A negative grace period is a mistake of the past that may be mended.
    ...(mended ? { terminationGracePeriodSeconds: grace } : {}),
  };
}

const NOTHING: readonly FieldError[] = [];
const IMAGE: ReadonlySet<string> = new Set(['image']);
const LISTS_AND_DEADLINE: ReadonlySet<string> = new Set([
  'containers',
  'initContainers',
  'activeDeadlineSeconds',
  'tolerations',
  'schedulingGates',
]);

/** The change is described, which takes copies of all, when something seems to have changed that may not. */
function validateOtherFields(spec: PodSpec, old: PodSpec): readonly FieldError[] {
  let isSame = true;
  const compare = (ignored: ReadonlySet<string>, now: object, before: object): readonly FieldError[] => {
    if (isForLater(now) || isForLater(before)) {
      return checkInSteps(function* () {
        isSame &&= yield* inSteps.equalApartFrom(ignored, now, before);
        return NOTHING;
      });
    }
    isSame &&= equalApartFrom(ignored, now, before);
    return NOTHING;
  };
  const compareEach = (containers: PodSpec['containers'], before: PodSpec['containers']): readonly FieldError[] =>
    checkEach(containers, (container, index) => compare(IMAGE, container, before?.[index] ?? {}));
  const compareAll = (): readonly FieldError[] => [
    ...compare(LISTS_AND_DEADLINE, spec, old),
    ...compareEach(spec.containers, old.containers),
    ...compareEach(spec.initContainers, old.initContainers),
  ];
  return checkThen(compareAll, () => (isSame ? NOTHING : checkInSteps(() => describeOtherChanges(spec, old))));
}

function* describeOtherChanges(spec: PodSpec, old: PodSpec): Steps<readonly FieldError[]> {
  const changes = yield* describeChangedFields(withoutAllowedChanges(spec, old), old, 'core.PodSpec');
  return changes === undefined ? NOTHING : [forbiddenField('spec', `${REFUSAL}\n${changes}`)];
}

/** Reasons not to schedule a pod go away one by one. */
function validateGates(
  { schedulingGates = [] }: PodSpec,
  { schedulingGates: old = [] }: PodSpec,
): readonly FieldError[] {
  const known = new Set(old.map(({ name }) => name));
  return schedulingGates
    .filter(({ name }) => !known.has(name))
    .map(({ name = '' }) =>
      forbiddenField('spec.schedulingGates', `only deletion is allowed, but found new scheduling gate '${name}'`),
    );
}

function validateSpecUpdate(spec: PodSpec, old: PodSpec): readonly FieldError[] {
  const errors: FieldError[] = [];
  const checks = [
    () => checkContainers(spec.containers ?? [], old.containers ?? [], 'spec.containers'),
    () => checkContainers(spec.initContainers ?? [], old.initContainers ?? [], 'spec.initContainers'),
    () => checkDeadline(spec.activeDeadlineSeconds, old.activeDeadlineSeconds),
  ];
  for (const check of checks) {
    const checked = check();
    for (const error of checked.errors) errors.push(error);
    if (checked.final) return errors;
  }
  return [
    ...errors,
    ...validateGates(spec, old),
    ...validateAddedTolerations(spec.tolerations, old.tolerations, 'spec.tolerations'),
    ...validateOtherFields(spec, old),
  ];
}

/** The new pod has to be one, and the change has to be allowed: what both find wrong is told twice, as on the wire. */
export function validatePodUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const { metadata, spec = {} } = object as Pod;
  const { spec: oldSpec = {} } = old as Pod;
  return [
    ...validatePod(object),
    ...validatePodAnnotationsUpdate(metadata.annotations, old.metadata.annotations, spec, 'metadata.annotations'),
    ...validateSpecUpdate(spec, oldSpec),
  ];
}
