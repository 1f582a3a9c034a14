import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import { validateCsiNode, validateCsiNodeUpdate } from '../../validation/csi';
import { defineKind } from '../define-kind';
import { listAt } from '../field-values';
import { emptyAsNull } from '../strategies';

const prepare = emptyAsNull('spec.drivers', 'spec.drivers.*.topologyKeys');

export const csiNode = defineKind({
  group: 'storage.k8s.io',
  kind: 'CSINode',
  resource: 'csinodes',
  namespaced: false,
  metadataOnUpdate: ['own', 'own'],
  versions: [
    'v1',
    {
      version: 'v1beta1',
      lifecycle: { deprecated: '1.17', removed: '1.22', replacement: 'storage.k8s.io/v1 CSINode' },
    },
  ],
  allowUnconditionalUpdate: false,
  deleteReturnsObject: true,
  strategy: {
    prepareForCreate: prepare,
    prepareForUpdate: prepare,
    validateCreate: validateCsiNode,
    validateUpdate: validateCsiNodeUpdate,
  },
  table: tableOf([
    nameColumn,
    column('Drivers', 'How many drivers the node has.', (object) => listAt(object, 'spec', 'drivers').length, {
      type: 'integer',
    }),
    ageColumn,
  ]),
});
