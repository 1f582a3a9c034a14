import { firstThree } from '../../table/lists';
import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import { storageVersionName, validateStorageVersionStatus } from '../../validation/storage-version';
import { defineKind } from '../define-kind';
import { listAt, stringAt, valueAt } from '../field-values';
import { keepSpecAndMetadata, specStrategy } from '../strategies';
import { statusSubresource } from '../subresources';

export const storageVersion = defineKind({
  group: 'internal.apiserver.k8s.io',
  kind: 'StorageVersion',
  resource: 'storageversions',
  namespaced: false,
  versions: ['v1alpha1'],
  validateName: storageVersionName,
  allowUnconditionalUpdate: false,
  // There is nothing to check but the status, which starts empty.
  strategy: specStrategy(),
  subresources: [
    statusSubresource({ prepareForUpdate: keepSpecAndMetadata, validateUpdate: validateStorageVersionStatus }),
  ],
  table: tableOf([
    nameColumn,
    column(
      'CommonEncodingVersion',
      'The version in which all servers store.',
      (object) => valueAt(object, 'status', 'commonEncodingVersion') ?? '<unset>',
    ),
    column(
      'StorageVersions',
      'The version in which each server stores.',
      (object) =>
        firstThree(
          listAt(object, 'status', 'storageVersions').map(
            (one) => `${stringAt(one, 'apiServerID')}=${stringAt(one, 'encodingVersion')}`,
          ),
        ) || '<unset>',
    ),
    ageColumn,
  ]),
});
