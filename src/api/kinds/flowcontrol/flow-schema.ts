import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import { validateFlowControlStatus, validateFlowSchema } from '../../validation/flow-schema';
import type { KubeObject } from '../../object';
import { defineKind } from '../define-kind';
import { listAt, numberAt, stringAt } from '../field-values';
import { keepSpecAndMetadata, specStrategy } from '../strategies';
import { statusSubresource } from '../subresources';
import { flowControlVersions } from './flow-control-versions';

/** As requests try them; those of the same precedence by name, which is how lists come. */
function byPrecedence(left: KubeObject, right: KubeObject): number {
  return numberAt(left, 'spec', 'matchingPrecedence') - numberAt(right, 'spec', 'matchingPrecedence');
}

export const flowSchema = defineKind({
  group: 'flowcontrol.apiserver.k8s.io',
  kind: 'FlowSchema',
  resource: 'flowschemas',
  namespaced: false,
  metadataOnUpdate: ['own'],
  versions: flowControlVersions('FlowSchema'),
  strategy: { ...specStrategy(), validateCreate: validateFlowSchema, validateUpdate: validateFlowSchema },
  subresources: [
    statusSubresource({ prepareForUpdate: keepSpecAndMetadata, validateUpdate: validateFlowControlStatus }),
  ],
  tracksGeneration: true,
  table: {
    ...tableOf([
      nameColumn,
      column('PriorityLevel', 'The priority level of matching requests.', (object) =>
        stringAt(object, 'spec', 'priorityLevelConfiguration', 'name'),
      ),
      column('MatchingPrecedence', 'The order of schemas; the smallest number comes first.', (object) =>
        numberAt(object, 'spec', 'matchingPrecedence'),
      ),
      column(
        'DistinguisherMethod',
        'How requests are divided into flows.',
        (object) => stringAt(object, 'spec', 'distinguisherMethod', 'type') || '<none>',
      ),
      ageColumn,
      column('MissingPL', 'Whether the priority level is missing.', (object) => {
        const dangling = listAt(object, 'status', 'conditions').find((item) => stringAt(item, 'type') === 'Dangling');
        return dangling === undefined ? '?' : stringAt(dangling, 'status');
      }),
    ]),
    compare: byPrecedence,
  },
});
