import type { KubeObject } from '../../object';
import {
  validateFixedClaimStatusUpdate,
  validateFixedClaimUpdate,
  validatePersistentVolumeClaim,
  validatePersistentVolumeClaimStatusUpdate,
  validatePersistentVolumeClaimUpdate,
} from '../../validation/persistent-volume-claim';
import { isPlainMap, stringAt, valueAt } from '../field-values';
import type { Strategy } from '../kind-definition';
import { keepSpec, keepStatus, resetStatus, withFields } from '../strategies';

/** A new volume can begin as a copy of a claim's, or of a snapshot. */
function isKnownSource(source: unknown): boolean {
  const kind = stringAt(source, 'kind');
  const group = stringAt(source, 'apiGroup');
  return (
    (kind === 'PersistentVolumeClaim' && group === '') ||
    (kind === 'VolumeSnapshot' && group === 'snapshot.storage.k8s.io')
  );
}

/** Other data sources are dropped without a word, unless the claim had one before. */
function dropUnknownSource(claim: KubeObject, old?: KubeObject): KubeObject {
  const source = valueAt(claim, 'spec', 'dataSource');
  if (!isPlainMap(source) || isKnownSource(source)) return claim;
  return isPlainMap(valueAt(old, 'spec', 'dataSource')) ? claim : withFields(claim, 'spec', { dataSource: undefined });
}

const resetToPending = resetStatus({ phase: 'Pending' });

export const persistentVolumeClaimStrategy: Strategy = {
  prepareForCreate: (claim) => dropUnknownSource(resetToPending(claim)),
  prepareForUpdate: (claim, old) => dropUnknownSource(keepStatus(claim, old), old),
  validateCreate: validatePersistentVolumeClaim,
  validateUpdate: validatePersistentVolumeClaimUpdate,
};

export const persistentVolumeClaimStatusStrategy: Strategy = {
  prepareForUpdate: keepSpec,
  validateUpdate: validatePersistentVolumeClaimStatusUpdate,
};

/** The strategies of a server with `--feature-gates=ExpandPersistentVolumes=false`. */
export const fixedClaimStrategy: Strategy = {
  ...persistentVolumeClaimStrategy,
  validateUpdate: validateFixedClaimUpdate,
};
export const fixedClaimStatusStrategy: Strategy = {
  ...persistentVolumeClaimStatusStrategy,
  validateUpdate: validateFixedClaimStatusUpdate,
};
