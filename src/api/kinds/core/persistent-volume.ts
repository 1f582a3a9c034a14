import { accessModesText } from '../../table/lists';
import { ageColumn, column, nameColumn, tableOf, wideColumn } from '../../table/table';
import type { KubeObject } from '../../object';
import { validatePersistentVolume, validatePersistentVolumeUpdate } from '../../validation/persistent-volume';
import { defineKind } from '../define-kind';
import { listAt, stringAt, valueAt } from '../field-values';
import { specStrategy } from '../strategies';
import { statusSubresource } from '../subresources';

/** Before there was a field for it, volumes and claims named their storage class in this annotation. */
const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

export function storageClassOf(object: KubeObject): string {
  return object.metadata.annotations?.[CLASS_ANNOTATION] ?? stringAt(object, 'spec', 'storageClassName');
}

/** A volume's or claim's phase, unless it is being deleted. */
export function phaseOrTerminating(object: KubeObject): string {
  const deleted = object.metadata.deletionTimestamp ?? undefined;
  return deleted === undefined ? stringAt(object, 'status', 'phase') : 'Terminating';
}

export const volumeModeColumn = wideColumn(
  'VolumeMode',
  'Whether the volume holds a file system or is a raw device.',
  (object) => stringAt(object, 'spec', 'volumeMode') || '<unset>',
);

function claim(volume: KubeObject): string {
  const reference = valueAt(volume, 'spec', 'claimRef') ?? undefined;
  return reference === undefined ? '' : `${stringAt(reference, 'namespace')}/${stringAt(reference, 'name')}`;
}

export const persistentVolume = defineKind({
  group: '',
  kind: 'PersistentVolume',
  resource: 'persistentvolumes',
  shortNames: ['pv'],
  namespaced: false,
  metadataOnUpdate: ['own', 'own'],
  versions: ['v1'],
  strategy: {
    ...specStrategy({ phase: 'Pending' }),
    validateCreate: validatePersistentVolume,
    validateUpdate: validatePersistentVolumeUpdate,
  },
  subresources: [statusSubresource()],
  deleteReturnsObject: true,
  table: tableOf([
    nameColumn,
    column(
      'Capacity',
      'How much the volume holds.',
      (object) => stringAt(object, 'spec', 'capacity', 'storage') || '0',
    ),
    column('Access Modes', 'The ways in which it can be mounted.', (object) =>
      accessModesText(listAt(object, 'spec', 'accessModes')),
    ),
    column('Reclaim Policy', 'What becomes of the volume when its claim goes.', (object) =>
      stringAt(object, 'spec', 'persistentVolumeReclaimPolicy'),
    ),
    column('Status', 'The phase of the volume.', phaseOrTerminating),
    column('Claim', 'The claim that the volume is bound to.', claim),
    column('StorageClass', 'The storage class of the volume.', storageClassOf),
    column('Reason', 'Why the volume is in its phase.', (object) => stringAt(object, 'status', 'reason')),
    ageColumn,
    volumeModeColumn,
  ]),
});
