import { ageColumn, longColumn, nameColumn, tableOf } from '../../table/table';
import { validateNetworkPolicy, validateNetworkPolicyUpdate } from '../../validation/network-policy';
import { defineKind } from '../define-kind';
import { valueAt } from '../field-values';
import { labelSelectorCell } from '../label-selector-text';
import { defaultNetworkPolicy } from './network-policy-defaults';

export const networkPolicy = defineKind({
  group: 'networking.k8s.io',
  kind: 'NetworkPolicy',
  resource: 'networkpolicies',
  shortNames: ['netpol'],
  namespaced: true,
  metadataOnUpdate: ['own', 'change'],
  versions: ['v1'],
  errorGroup: 'extensions',
  applyDefaults: defaultNetworkPolicy,
  strategy: { validateCreate: validateNetworkPolicy, validateUpdate: validateNetworkPolicyUpdate },
  tracksGeneration: true,
  table: tableOf([
    nameColumn,
    longColumn('Pod-Selector', 'The pods that the policy is about.', (object) =>
      labelSelectorCell(valueAt(object, 'spec', 'podSelector')),
    ),
    ageColumn,
  ]),
});
