import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import { selectorColumn, templateColumns } from '../../table/workload-columns';
import {
  validateReplicaSet,
  validateReplicaSetStatusUpdate,
  validateReplicaSetUpdate,
} from '../../validation/replica-set';
import { defineKind } from '../define-kind';
import { numberAt } from '../field-values';
import { keepSpec, specStrategy } from '../strategies';
import { scaleSubresource, statusSubresource } from '../subresources';
import { defaultWorkloadTemplate } from './workload-defaults';

export const replicaSet = defineKind({
  group: 'apps',
  kind: 'ReplicaSet',
  resource: 'replicasets',
  shortNames: ['rs'],
  categories: ['all'],
  namespaced: true,
  metadataOnUpdate: ['own', 'change'],
  versions: ['v1'],
  applyDefaults: defaultWorkloadTemplate,
  strategy: {
    ...specStrategy({ replicas: 0 }),
    validateCreate: validateReplicaSet,
    validateUpdate: validateReplicaSetUpdate,
  },
  subresources: [
    scaleSubresource(),
    statusSubresource({ prepareForUpdate: keepSpec, validateUpdate: validateReplicaSetStatusUpdate }),
  ],
  tracksGeneration: true,
  table: tableOf([
    nameColumn,
    column('Desired', 'How many pods are wanted.', (object) => numberAt(object, 'spec', 'replicas'), {
      type: 'integer',
    }),
    column('Current', 'How many pods there are.', (object) => numberAt(object, 'status', 'replicas'), {
      type: 'integer',
    }),
    column('Ready', 'How many pods are ready.', (object) => numberAt(object, 'status', 'readyReplicas'), {
      type: 'integer',
    }),
    ageColumn,
    ...templateColumns('spec', 'template'),
    selectorColumn('spec', 'selector'),
  ]),
});
