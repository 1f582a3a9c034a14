import { ageColumn, column, nameColumn, tableOf, type Column } from '../../table/table';
import { validateFlowControlStatus } from '../../validation/flow-schema';
import { validatePriorityLevel } from '../../validation/priority-level';
import { defineKind } from '../define-kind';
import { stringAt, valueAt } from '../field-values';
import { keepSpecAndMetadata, specStrategy } from '../strategies';
import { statusSubresource } from '../subresources';
import { flowControlVersions } from './flow-control-versions';
import {
  priorityLevelDefaults,
  priorityLevelFromV1,
  priorityLevelFromV1beta3,
  priorityLevelToV1,
  priorityLevelToV1beta3,
} from './priority-level-conversion';

/** A number of the limits, which levels without limits do not have. */
function limit(name: string, description: string, ...path: readonly string[]): Column {
  return column(name, description, (object) => valueAt(object, 'spec', 'limited', ...path) ?? '<none>');
}

export const priorityLevelConfiguration = defineKind({
  group: 'flowcontrol.apiserver.k8s.io',
  kind: 'PriorityLevelConfiguration',
  resource: 'prioritylevelconfigurations',
  namespaced: false,
  metadataOnUpdate: ['own'],
  versions: flowControlVersions('PriorityLevelConfiguration', {
    v1: { toStorage: priorityLevelFromV1, fromStorage: priorityLevelToV1 },
    v1beta3: { toStorage: priorityLevelFromV1beta3, fromStorage: priorityLevelToV1beta3 },
  }),
  applyDefaults: priorityLevelDefaults,
  strategy: {
    ...specStrategy(),
    validateCreate: validatePriorityLevel,
    validateUpdate: (object, _old, requested) => validatePriorityLevel(object, requested),
  },
  subresources: [
    statusSubresource({ prepareForUpdate: keepSpecAndMetadata, validateUpdate: validateFlowControlStatus }),
  ],
  tracksGeneration: true,
  table: tableOf([
    nameColumn,
    column('Type', 'Whether the level has limits.', (object) => stringAt(object, 'spec', 'type')),
    limit('AssuredConcurrencyShares', 'Its share of the concurrency.', 'assuredConcurrencyShares'),
    limit('Queues', 'How many queues it has.', 'limitResponse', 'queuing', 'queues'),
    limit('HandSize', 'How many queues a flow is dealt.', 'limitResponse', 'queuing', 'handSize'),
    limit('QueueLengthLimit', 'How long a queue may be.', 'limitResponse', 'queuing', 'queueLengthLimit'),
    ageColumn,
  ]),
});
