import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import { plainSelectorColumn, templateColumns } from '../../table/workload-columns';
import { validateReplicaSetStatusUpdate } from '../../validation/replica-set';
import {
  validateReplicationController,
  validateReplicationControllerUpdate,
} from '../../validation/replication-controller';
import { defineKind } from '../define-kind';
import { numberAt } from '../field-values';
import { printLabels } from '../label-selector-text';
import { keepSpec, specStrategy } from '../strategies';
import { scaleSubresource, statusSubresource } from '../subresources';
import { defaultReplicationController } from './replication-controller-defaults';

export const replicationController = defineKind({
  group: '',
  kind: 'ReplicationController',
  resource: 'replicationcontrollers',
  shortNames: ['rc'],
  categories: ['all'],
  namespaced: true,
  metadataOnUpdate: ['own', 'change'],
  versions: ['v1'],
  storagePrefix: 'controllers',
  applyDefaults: defaultReplicationController,
  strategy: {
    ...specStrategy({ replicas: 0 }),
    validateCreate: validateReplicationController,
    validateUpdate: validateReplicationControllerUpdate,
  },
  subresources: [
    scaleSubresource(printLabels),
    statusSubresource({ prepareForUpdate: keepSpec, validateUpdate: validateReplicaSetStatusUpdate }),
  ],
  selectableFields: { 'status.replicas': (object) => String(numberAt(object, 'status', 'replicas')) },
  tracksGeneration: true,
  defaultGarbageCollection: 'orphan',
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
    plainSelectorColumn('spec', 'selector'),
  ]),
});
