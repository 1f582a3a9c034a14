import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import type { KubeObject } from '../../object';
import { validateStorageClass, validateStorageClassUpdate } from '../../validation/storage-class';
import { defineKind } from '../define-kind';
import { booleanAt, stringAt } from '../field-values';

const DEFAULT_CLASS_ANNOTATIONS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

function nameAndDefault({ metadata }: KubeObject): string {
  const isDefault = DEFAULT_CLASS_ANNOTATIONS.some((annotation) => metadata.annotations?.[annotation] === 'true');
  return isDefault ? `${metadata.name ?? ''} (default)` : (metadata.name ?? '');
}

export const storageClass = defineKind({
  group: 'storage.k8s.io',
  kind: 'StorageClass',
  resource: 'storageclasses',
  shortNames: ['sc'],
  namespaced: false,
  metadataOnUpdate: ['own', 'change'],
  versions: [
    'v1',
    {
      version: 'v1beta1',
      lifecycle: { deprecated: '1.19', removed: '1.22', replacement: 'storage.k8s.io/v1 StorageClass' },
    },
  ],
  deleteReturnsObject: true,
  strategy: { validateCreate: validateStorageClass, validateUpdate: validateStorageClassUpdate },
  table: tableOf([
    { ...nameColumn, cell: nameAndDefault },
    column('Provisioner', 'Who makes volumes of this class.', (object) => stringAt(object, 'provisioner')),
    column(
      'ReclaimPolicy',
      'What becomes of a volume when its claim goes.',
      (object) => stringAt(object, 'reclaimPolicy') || 'Delete',
    ),
    column(
      'VolumeBindingMode',
      'When volumes are made and bound.',
      (object) => stringAt(object, 'volumeBindingMode') || 'Immediate',
    ),
    column('AllowVolumeExpansion', 'Whether claims may grow.', (object) => booleanAt(object, 'allowVolumeExpansion')),
    ageColumn,
  ]),
});
