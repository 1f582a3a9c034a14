import { ageColumn, column, longColumn, nameColumn, tableOf } from '../../table/table';
import { selectorColumn, templateColumns } from '../../table/workload-columns';
import { validateDaemonSet, validateDaemonSetStatusUpdate, validateDaemonSetUpdate } from '../../validation/daemon-set';
import { defineKind } from '../define-kind';
import { mapAt, numberAt } from '../field-values';
import { labelsCell } from '../label-selector-text';
import { keepSpec, keepStatus, resetStatus } from '../strategies';
import { statusSubresource } from '../subresources';
import { firstTemplateGeneration, keepTemplateGeneration, nextTemplateGeneration } from './template-generation';
import { defaultDaemonSet } from './workload-defaults';

function count(name: string, description: string, field: string): ReturnType<typeof column> {
  return column(name, description, (object) => numberAt(object, 'status', field), { type: 'integer' });
}

const withoutStatus = resetStatus({
  currentNumberScheduled: 0,
  numberMisscheduled: 0,
  desiredNumberScheduled: 0,
  numberReady: 0,
});

export const daemonSet = defineKind({
  group: 'apps',
  kind: 'DaemonSet',
  resource: 'daemonsets',
  shortNames: ['ds'],
  categories: ['all'],
  namespaced: true,
  metadataOnUpdate: ['own', 'change'],
  versions: ['v1'],
  applyDefaults: defaultDaemonSet,
  strategy: {
    prepareForCreate: (object) => firstTemplateGeneration(withoutStatus(object)),
    prepareForUpdate: (object, old) => nextTemplateGeneration(keepStatus(object, old), old),
    validateCreate: validateDaemonSet,
    validateUpdate: validateDaemonSetUpdate,
  },
  subresources: [
    statusSubresource({
      prepareForUpdate: (object, old) => keepTemplateGeneration(keepSpec(object, old), old),
      validateUpdate: validateDaemonSetStatusUpdate,
    }),
  ],
  tracksGeneration: true,
  table: tableOf([
    nameColumn,
    count('Desired', 'How many nodes should run the pod.', 'desiredNumberScheduled'),
    count('Current', 'How many nodes that should run it do.', 'currentNumberScheduled'),
    count('Ready', 'How many nodes run a pod that is ready.', 'numberReady'),
    count('Up-to-date', 'How many nodes run the newest pod.', 'updatedNumberScheduled'),
    count('Available', 'How many nodes run a pod that is available.', 'numberAvailable'),
    longColumn('Node Selector', 'The labels of the nodes that should run the pod.', (object) =>
      labelsCell(mapAt(object, 'spec', 'template', 'spec', 'nodeSelector')),
    ),
    ageColumn,
    ...templateColumns('spec', 'template'),
    selectorColumn('spec', 'selector'),
  ]),
});
