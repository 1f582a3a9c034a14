import { ageColumn, longColumn, nameColumn, tableOf, type Column } from '../../table/table';
import type { KubeObject } from '../../object';
import { keysOf, type Steps } from '../../parts';
import { sortNames } from '../../steps/generated/sort-in-runs';
import { isPauseDue } from '../../steps/pace';
import {
  validateResourceQuota,
  validateResourceQuotaStatusUpdate,
  validateResourceQuotaUpdate,
} from '../../validation/resource-quota';
import { defineKind } from '../define-kind';
import { mapAt, stringAt } from '../field-values';
import { keepSpec, specStrategy } from '../strategies';
import { statusSubresource } from '../subresources';

/** `pods: 4/100, services: 1/2`, of the resources that `wanted` picks. */
function* usage(quota: KubeObject, wanted: (resource: string) => boolean): Steps<string> {
  const names: string[] = [];
  for (const name of keysOf(mapAt(quota, 'status', 'hard'))) {
    if (isPauseDue()) yield;
    if (wanted(name)) names.push(name);
  }
  const shown: string[] = [];
  for (const name of yield* sortNames(names)) {
    if (isPauseDue()) yield;
    const used = stringAt(quota, 'status', 'used', name) || '0';
    shown.push(`${name}: ${used}/${stringAt(quota, 'status', 'hard', name)}`);
  }
  return shown.join(', ');
}

function usageColumn(name: string, description: string, wanted: (resource: string) => boolean): Column {
  return longColumn(name, description, (object) => usage(object, wanted));
}

function isLimit(resource: string): boolean {
  return resource.startsWith('limits.');
}

export const resourceQuota = defineKind({
  group: '',
  kind: 'ResourceQuota',
  resource: 'resourcequotas',
  shortNames: ['quota'],
  namespaced: true,
  metadataOnUpdate: ['own', 'change'],
  versions: ['v1'],
  strategy: { ...specStrategy(), validateCreate: validateResourceQuota, validateUpdate: validateResourceQuotaUpdate },
  subresources: [statusSubresource({ prepareForUpdate: keepSpec, validateUpdate: validateResourceQuotaStatusUpdate })],
  deleteReturnsObject: true,
  table: tableOf([
    nameColumn,
    ageColumn,
    usageColumn('Request', 'Used and allowed amounts of counts and requests.', (resource) => !isLimit(resource)),
    usageColumn('Limit', 'Used and allowed amounts of limits.', isLimit),
  ]),
});
