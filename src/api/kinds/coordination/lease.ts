import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import { validateLease } from '../../validation/lease';
import { defineKind } from '../define-kind';
import { stringAt } from '../field-values';

export const lease = defineKind({
  group: 'coordination.k8s.io',
  kind: 'Lease',
  resource: 'leases',
  namespaced: true,
  versions: [
    'v1',
    {
      version: 'v1beta1',
      lifecycle: { deprecated: '1.19', removed: '1.22', replacement: 'coordination.k8s.io/v1 Lease' },
    },
  ],
  storageVersion: 'v1beta1',
  strategy: { validateCreate: validateLease, validateUpdate: validateLease },
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  table: tableOf([
    nameColumn,
    column('Holder', 'Who holds the lease.', (object) => stringAt(object, 'spec', 'holderIdentity')),
    ageColumn,
  ]),
});
