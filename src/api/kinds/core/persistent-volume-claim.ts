import { accessModesText } from '../../table/lists';
import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import type { KubeObject } from '../../object';
import { defineKind } from '../define-kind';
import { listAt, stringAt } from '../field-values';
import { statusSubresource } from '../subresources';
import { phaseOrTerminating, storageClassOf, volumeModeColumn } from './persistent-volume';
import { persistentVolumeClaimStatusStrategy, persistentVolumeClaimStrategy } from './persistent-volume-claim-strategy';

/** Cells that say something only once the claim has a volume. */
function whenBound(cell: (claim: KubeObject) => string): (claim: KubeObject) => string {
  return (claim) => (stringAt(claim, 'spec', 'volumeName') === '' ? '' : cell(claim));
}

export const persistentVolumeClaim = defineKind({
  group: '',
  kind: 'PersistentVolumeClaim',
  resource: 'persistentvolumeclaims',
  shortNames: ['pvc'],
  namespaced: true,
  metadataOnUpdate: ['own', 'change', 'own'],
  versions: ['v1'],
  strategy: persistentVolumeClaimStrategy,
  subresources: [statusSubresource(persistentVolumeClaimStatusStrategy)],
  deleteReturnsObject: true,
  table: tableOf([
    nameColumn,
    column('Status', 'The phase of the claim.', phaseOrTerminating),
    column('Volume', 'The volume that the claim is bound to.', (object) => stringAt(object, 'spec', 'volumeName')),
    column(
      'Capacity',
      'How much the bound volume holds.',
      whenBound((claim) => stringAt(claim, 'status', 'capacity', 'storage') || '0'),
    ),
    column(
      'Access Modes',
      'The ways in which the bound volume can be mounted.',
      whenBound((claim) => accessModesText(listAt(claim, 'status', 'accessModes'))),
    ),
    column('StorageClass', 'The storage class that the claim asks for.', storageClassOf),
    ageColumn,
    volumeModeColumn,
  ]),
});
