import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import { validateCsiDriver, validateCsiDriverUpdate } from '../../validation/csi';
import { defineKind } from '../define-kind';
import { booleanAt, listAt, valueAt } from '../field-values';

export const csiDriver = defineKind({
  group: 'storage.k8s.io',
  kind: 'CSIDriver',
  resource: 'csidrivers',
  namespaced: false,
  metadataOnUpdate: ['change'],
  versions: [
    'v1',
    {
      version: 'v1beta1',
      lifecycle: { deprecated: '1.19', removed: '1.22', replacement: 'storage.k8s.io/v1 CSIDriver' },
    },
  ],
  storageVersion: 'v1beta1',
  allowUnconditionalUpdate: false,
  deleteReturnsObject: true,
  strategy: { validateCreate: validateCsiDriver, validateUpdate: validateCsiDriverUpdate },
  table: tableOf([
    nameColumn,
    column(
      'AttachRequired',
      'Whether volumes must be attached before they are mounted.',
      (object) => valueAt(object, 'spec', 'attachRequired') ?? true,
      { type: 'boolean' },
    ),
    column(
      'PodInfoOnMount',
      'Whether the driver is told of the pod when it mounts.',
      (object) => booleanAt(object, 'spec', 'podInfoOnMount'),
      { type: 'boolean' },
    ),
    column('Modes', 'The kinds of volumes that the driver makes.', (object) =>
      listAt(object, 'spec', 'volumeLifecycleModes').map(String).join(','),
    ),
    ageColumn,
  ]),
});
