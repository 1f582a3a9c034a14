import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import { validateLease } from '../../validation/lease';
import type { KubeObject } from '../../object';
import { defineKind } from '../define-kind';
import { stringAt, valueAt } from '../field-values';
import { withFields } from '../strategies';

/** Of leaders that the server elects, which it does not do: dropped without a word, as where the gate for it is off. */
const ELECTION_FIELDS = ['strategy', 'preferredHolder'] as const;

function withoutElection(lease: KubeObject, old: KubeObject | undefined): KubeObject {
  const unused = ELECTION_FIELDS.filter(
    (field) => valueAt(lease, 'spec', field) !== undefined && valueAt(old, 'spec', field) === undefined,
  );
  return unused.length === 0
    ? lease
    : withFields(lease, 'spec', Object.fromEntries(unused.map((field) => [field, undefined])));
}

export const lease = defineKind({
  group: 'coordination.k8s.io',
  kind: 'Lease',
  resource: 'leases',
  namespaced: true,
  unqualifiedFinalizers: true,
  versions: [
    'v1',
    {
      version: 'v1beta1',
      lifecycle: { deprecated: '1.19', removed: '1.22', replacement: 'coordination.k8s.io/v1 Lease' },
    },
  ],
  storageVersion: 'v1beta1',
  strategy: {
    prepareForCreate: (object) => withoutElection(object, undefined),
    prepareForUpdate: withoutElection,
    validateCreate: validateLease,
    validateUpdate: validateLease,
  },
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  table: tableOf([
    nameColumn,
    column('Holder', 'Who holds the lease.', (object) => stringAt(object, 'spec', 'holderIdentity')),
    ageColumn,
  ]),
});
