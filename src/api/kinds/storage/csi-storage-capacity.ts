import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import { validateCsiStorageCapacity, validateCsiStorageCapacityUpdate } from '../../validation/csi';
import { defineKind } from '../define-kind';
import { stringAt } from '../field-values';

export const csiStorageCapacity = defineKind({
  group: 'storage.k8s.io',
  kind: 'CSIStorageCapacity',
  resource: 'csistoragecapacities',
  namespaced: true,
  versions: [
    'v1',
    {
      version: 'v1beta1',
      lifecycle: { deprecated: '1.24', removed: '1.27', replacement: 'storage.k8s.io/v1 CSIStorageCapacity' },
    },
    {
      version: 'v1alpha1',
      lifecycle: { deprecated: '1.21', removed: '1.24', replacement: 'storage.k8s.io/v1beta1 CSIStorageCapacity' },
    },
  ],
  // What replicas of 1.20 and 1.21 read.
  storageVersion: 'v1beta1',
  allowUnconditionalUpdate: false,
  strategy: { validateCreate: validateCsiStorageCapacity, validateUpdate: validateCsiStorageCapacityUpdate },
  table: tableOf([
    nameColumn,
    column('StorageClassName', 'The storage class that this is about.', (object) =>
      stringAt(object, 'storageClassName'),
    ),
    column('Capacity', 'How much can be provisioned.', (object) => stringAt(object, 'capacity') || '<unset>'),
    ageColumn,
  ]),
});
