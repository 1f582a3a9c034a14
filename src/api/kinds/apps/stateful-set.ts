import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import { templateColumns } from '../../table/workload-columns';
import {
  validateStatefulSet,
  validateStatefulSetStatusUpdate,
  validateStatefulSetUpdate,
} from '../../validation/stateful-set';
import { defineKind } from '../define-kind';
import { numberAt } from '../field-values';
import { keepSpec, specStrategy } from '../strategies';
import { scaleSubresource, statusSubresource } from '../subresources';
import { defaultStatefulSet } from './workload-defaults';

export const statefulSet = defineKind({
  group: 'apps',
  kind: 'StatefulSet',
  resource: 'statefulsets',
  shortNames: ['sts'],
  categories: ['all'],
  namespaced: true,
  metadataOnUpdate: ['own', 'change'],
  versions: ['v1'],
  applyDefaults: defaultStatefulSet,
  strategy: {
    ...specStrategy({ replicas: 0 }),
    validateCreate: validateStatefulSet,
    validateUpdate: validateStatefulSetUpdate,
  },
  subresources: [
    scaleSubresource(),
    statusSubresource({ prepareForUpdate: keepSpec, validateUpdate: validateStatefulSetStatusUpdate }),
  ],
  tracksGeneration: true,
  table: tableOf([
    nameColumn,
    column(
      'Ready',
      'How many pods are ready, of those wanted.',
      (object) => `${numberAt(object, 'status', 'readyReplicas')}/${numberAt(object, 'spec', 'replicas')}`,
    ),
    ageColumn,
    ...templateColumns('spec', 'template'),
  ]),
});
