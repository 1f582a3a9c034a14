import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import { selectorColumn, templateColumns } from '../../table/workload-columns';
import {
  validateDeployment,
  validateDeploymentStatusUpdate,
  validateDeploymentUpdate,
} from '../../validation/deployment';
import { defineKind } from '../define-kind';
import { numberAt } from '../field-values';
import { keepSpecAndLabels, specStrategy } from '../strategies';
import { scaleSubresource, statusSubresource } from '../subresources';
import { defaultDeployment } from './workload-defaults';
import { prepareDeploymentForUpdate } from './deployment-strategy';

export const deployment = defineKind({
  group: 'apps',
  kind: 'Deployment',
  resource: 'deployments',
  shortNames: ['deploy'],
  categories: ['all'],
  namespaced: true,
  metadataOnUpdate: ['change'],
  versions: ['v1'],
  applyDefaults: defaultDeployment,
  strategy: {
    ...specStrategy(),
    prepareForUpdate: prepareDeploymentForUpdate,
    validateCreate: validateDeployment,
    validateUpdate: validateDeploymentUpdate,
  },
  subresources: [
    scaleSubresource(),
    statusSubresource({ prepareForUpdate: keepSpecAndLabels, validateUpdate: validateDeploymentStatusUpdate }),
  ],
  tracksGeneration: true,
  table: tableOf([
    nameColumn,
    column(
      'Ready',
      'How many pods are ready, of those wanted.',
      (object) => `${numberAt(object, 'status', 'readyReplicas')}/${numberAt(object, 'spec', 'replicas')}`,
    ),
    column('Up-to-date', 'How many pods are of the newest template.', (object) =>
      numberAt(object, 'status', 'updatedReplicas'),
    ),
    column('Available', 'How many pods have been ready for long enough.', (object) =>
      numberAt(object, 'status', 'availableReplicas'),
    ),
    ageColumn,
    ...templateColumns('spec', 'template'),
    selectorColumn('spec', 'selector'),
  ]),
});
