import { forbiddenField, invalid, required, type FieldError } from '../errors/field-error';
import { checkSame } from './immutable';
import type { KubeObject } from '../object';
import { keysOf } from '../parts';
import { checkEach } from './check-each';
import { parseQuantity } from '../quantity/quantity';
import type {
  PersistentVolumeClaimSpec,
  PersistentVolumeClaimStatus,
  TypedLocalObjectReference,
} from '../schema/generated/core-v1';
import { validateLabelSelector } from './label-selector';
import { validateResourceQuantity } from './pod/resources';
import {
  validateAccessModes,
  validateClassName,
  validateBasicAmount,
  validatePositiveAmount,
  validateVolumeMode,
} from './storage-claims';

/** Before there was a field for it, claims named their class in this annotation. */
const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

function specOf(object: KubeObject): PersistentVolumeClaimSpec {
  return object['spec'] ?? {};
}

function validateSize(spec: PersistentVolumeClaimSpec, field: string): readonly FieldError[] {
  const size = spec.resources?.requests?.['storage'];
  return size === undefined
    ? [required(field, '')]
    : ([validatePositiveAmount(size, field), validateResourceQuantity('storage', size, field)].find(isNotEmpty) ?? []);
}

function isNotEmpty(errors: readonly FieldError[]): boolean {
  return errors.length > 0;
}

/** What a new volume begins as: another claim, or something that a driver knows, such as a snapshot. */
function validateDataSource(source: TypedLocalObjectReference | undefined, path: string): readonly FieldError[] {
  if (!source) return [];
  const { apiGroup, kind = '', name = '' } = source;
  return [
    ...(name === '' ? [required(`${path}.name`, '')] : []),
    ...(kind === '' ? [required(`${path}.kind`, '')] : []),
    ...(!apiGroup && kind !== 'PersistentVolumeClaim' ? [invalid(path, kind, '')] : []),
  ];
}

/** The problems of a claim's spec at `path`; claims of ephemeral volumes have the same. */
export function validateClaimSpec(spec: PersistentVolumeClaimSpec, path: string): readonly FieldError[] {
  const { accessModes = [] } = spec;
  return [
    ...(accessModes.length === 0 ? [required(`${path}.accessModes`, 'at least 1 access mode is required')] : []),
    ...validateLabelSelector(spec.selector, `${path}.selector`),
    ...validateAccessModes(accessModes, `${path}.accessModes`),
    ...validateSize(spec, `${path}.resources[storage]`),
    ...validateClassName(spec.storageClassName, `${path}.storageClassName`),
    ...validateVolumeMode(spec.volumeMode, `${path}.volumeMode`),
    ...validateDataSource(spec.dataSource, `${path}.dataSource`),
  ];
}

export function validatePersistentVolumeClaim(object: KubeObject): readonly FieldError[] {
  return validateClaimSpec(specOf(object), 'spec');
}

/** The class may move from the annotation to the field, once. */
function movesClass(object: KubeObject, old: KubeObject): boolean {
  const before = old.metadata.annotations?.[CLASS_ANNOTATION];
  const now = object.metadata.annotations?.[CLASS_ANNOTATION];
  return (
    before !== undefined &&
    before !== '' &&
    now === undefined &&
    specOf(old).storageClassName === undefined &&
    specOf(object).storageClassName === before
  );
}

function validateClassAnnotation(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const now = object.metadata.annotations?.[CLASS_ANNOTATION] ?? '';
  const before = old.metadata.annotations?.[CLASS_ANNOTATION] ?? '';
  return now === before ? [] : [invalid(`metadata.annotations[${CLASS_ANNOTATION}]`, now, 'field is immutable')];
}

/** The spec without what may change: the volume's name once, the size of a bound claim, the class as above. */
function fixedPart(
  spec: PersistentVolumeClaimSpec,
  { named, bound, moved }: { readonly named: boolean; readonly bound: boolean; readonly moved: boolean },
): unknown {
  const { volumeName, resources, storageClassName, ...rest } = spec;
  const { storage, ...requests } = resources?.requests ?? {};
  return {
    ...rest,
    ...(named ? { volumeName } : {}),
    ...(moved ? {} : { storageClassName }),
    resources: { ...resources, requests: bound ? requests : { ...requests, storage } },
  };
}

function validateSizeUpdate(
  spec: PersistentVolumeClaimSpec,
  oldSpec: PersistentVolumeClaimSpec,
): readonly FieldError[] {
  const size = parseQuantity(spec.resources?.requests?.['storage'] ?? '0');
  const oldSize = parseQuantity(oldSpec.resources?.requests?.['storage'] ?? '0');
  return size.nanos < oldSize.nanos
    ? [forbiddenField('spec.resources.requests.storage', 'field can not be less than previous value')]
    : [];
}

function validateUpdate(object: KubeObject, old: KubeObject, canGrow: boolean): readonly FieldError[] {
  const spec = specOf(object);
  const oldSpec = specOf(old);
  const moved = movesClass(object, old);
  const exempt = {
    named: Boolean(oldSpec.volumeName),
    bound: canGrow && ((object['status'] ?? {}) as PersistentVolumeClaimStatus).phase === 'Bound',
    moved,
  };
  const fixed = canGrow
    ? 'spec is immutable after creation except resources.requests for bound claims'
    : 'field is immutable after creation';
  const errors = validatePersistentVolumeClaim(object);
  return [
    // The rules of the claim as a whole are looked at twice.
    ...errors,
    ...errors,
    ...(moved ? [] : validateClassAnnotation(object, old)),
    ...checkSame(fixedPart(spec, exempt), fixedPart(oldSpec, exempt), () => [forbiddenField('spec', fixed)]),
    ...(canGrow ? validateSizeUpdate(spec, oldSpec) : []),
    ...(spec.volumeMode === oldSpec.volumeMode ? [] : [invalid('volumeMode', spec.volumeMode, 'field is immutable')]),
  ];
}

/** Claims are immutable, but for growing once they are bound. */
export function validatePersistentVolumeClaimUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  return validateUpdate(object, old, true);
}

/** Without the gate ExpandPersistentVolumes they do not grow either. */
export function validateFixedClaimUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  return validateUpdate(object, old, false);
}

/** The conditions of a claim tell how it grows. */
export function validateFixedClaimStatusUpdate(object: KubeObject): readonly FieldError[] {
  const { conditions = [] } = (object['status'] ?? {}) as PersistentVolumeClaimStatus;
  return [
    ...(conditions.length === 0 ? [] : [forbiddenField('status.conditions', 'invalid field')]),
    ...validatePersistentVolumeClaimStatusUpdate(object),
  ];
}

export function validatePersistentVolumeClaimStatusUpdate(object: KubeObject): readonly FieldError[] {
  const { accessModes = [] } = specOf(object);
  const { capacity } = (object['status'] ?? {}) as PersistentVolumeClaimStatus;
  return [
    ...(accessModes.length === 0 ? [required('spec.accessModes', '')] : []),
    ...checkEach(keysOf(capacity ?? {}), (name) =>
      validateBasicAmount((capacity ?? {})[name] as string, `status.capacity[${name}]`),
    ),
  ];
}
