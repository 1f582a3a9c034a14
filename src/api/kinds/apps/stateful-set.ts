import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import { templateColumns } from '../../table/workload-columns';
import { defineKind } from '../define-kind';
import { numberAt } from '../field-values';
import { specStrategy } from '../strategies';
import { scaleSubresource, statusSubresource } from '../subresources';
import { defaultStatefulSet } from './workload-defaults';

export const statefulSet = defineKind({
  group: 'apps',
  kind: 'StatefulSet',
  resource: 'statefulsets',
  shortNames: ['sts'],
  categories: ['all'],
  namespaced: true,
  versions: ['v1'],
  applyDefaults: defaultStatefulSet,
  strategy: specStrategy({ replicas: 0 }),
  subresources: [scaleSubresource(), statusSubresource()],
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
