import { ageColumn, column, nameColumn, tableOf, type Column } from '../../table/table';
import type { KubeObject } from '../../object';
import { atOnce, keysOf, type Steps } from '../../parts';
import { sortNames } from '../../steps/generated/sort-in-runs';
import { isPauseDue } from '../../steps/pace';
import {
  validateResourceQuota,
  validateResourceQuotaStatusUpdate,
  validateResourceQuotaUpdate,
} from '../../validation/resource-quota';
import { defineKind } from '../define-kind';
import { keepSpec, specStrategy } from '../strategies';
import { statusSubresource } from '../subresources';

type Amounts = Readonly<Record<string, string>>;

/** `pods: 4/100, services: 1/2`, of the resources that `wanted` picks. */
function* usage({ status }: KubeObject, wanted: (resource: string) => boolean): Steps<string> {
  const { hard = {}, used = {} } = (status ?? {}) as { readonly hard?: Amounts; readonly used?: Amounts };
  const names: string[] = [];
  for (const name of keysOf(hard)) {
    if (isPauseDue()) yield;
    if (wanted(name)) names.push(name);
  }
  const shown: string[] = [];
  for (const name of yield* sortNames(names)) {
    if (isPauseDue()) yield;
    shown.push(`${name}: ${used[name] ?? '0'}/${hard[name]}`);
  }
  return shown.join(', ');
}

function usageColumn(name: string, description: string, wanted: (resource: string) => boolean): Column {
  const cellInSteps = (object: KubeObject): Steps<string> => usage(object, wanted);
  return column(name, description, (object) => atOnce(cellInSteps(object)), { cellInSteps });
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
