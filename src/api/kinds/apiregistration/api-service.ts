import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import type { KubeObject } from '../../object';
import { defineKind } from '../define-kind';
import { isPlainMap, listAt, stringAt, valueAt } from '../field-values';
import { validateApiService, validateApiServiceStatusUpdate } from '../../validation/api-service';
import { pathSegmentName } from '../../validation/names';
import { keepSpecAndMetadata, specStrategy } from '../strategies';
import { statusSubresource } from '../subresources';

function servedBy(apiService: KubeObject): string {
  const service = valueAt(apiService, 'spec', 'service');
  return isPlainMap(service) ? `${stringAt(service, 'namespace')}/${stringAt(service, 'name')}` : 'Local';
}

function available(apiService: KubeObject): string {
  const found = listAt(apiService, 'status', 'conditions').find((item) => stringAt(item, 'type') === 'Available');
  if (found === undefined) return 'Unknown';
  const status = stringAt(found, 'status');
  return status === 'True' ? status : `${status} (${stringAt(found, 'reason')})`;
}

export const apiService = defineKind({
  group: 'apiregistration.k8s.io',
  kind: 'APIService',
  resource: 'apiservices',
  categories: ['api-extensions'],
  namespaced: false,
  metadataOnUpdate: ['change', 'own'],
  unqualifiedFinalizers: true,
  versions: [
    'v1',
    {
      version: 'v1beta1',
      lifecycle: { deprecated: '1.19', removed: '1.22', replacement: 'apiregistration.k8s.io/v1 APIService' },
    },
  ],
  storageVersion: 'v1beta1',
  storagePrefix: 'apiregistration.k8s.io/apiservices',
  validateName: pathSegmentName,
  strategy: { ...specStrategy(), validateCreate: validateApiService, validateUpdate: validateApiService },
  subresources: [
    statusSubresource({ prepareForUpdate: keepSpecAndMetadata, validateUpdate: validateApiServiceStatusUpdate }),
  ],
  allowUnconditionalUpdate: false,
  ownedOnceApplied: true,
  table: tableOf([
    nameColumn,
    column('Service', 'The service that answers for the API, or Local.', servedBy),
    column('Available', 'Whether it can be reached.', available),
    ageColumn,
  ]),
});
