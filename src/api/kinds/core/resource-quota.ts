import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import type { KubeObject } from '../../object';
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
function usage(quota: KubeObject, wanted: (resource: string) => boolean): string {
  return Object.keys(mapAt(quota, 'status', 'hard'))
    .filter(wanted)
    .sort()
    .map((resource) => {
      const used = stringAt(quota, 'status', 'used', resource) || '0';
      return `${resource}: ${used}/${stringAt(quota, 'status', 'hard', resource)}`;
    })
    .join(', ');
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
    column('Request', 'Used and allowed amounts of counts and requests.', (object) =>
      usage(object, (resource) => !isLimit(resource)),
    ),
    column('Limit', 'Used and allowed amounts of limits.', (object) => usage(object, isLimit)),
  ]),
});
