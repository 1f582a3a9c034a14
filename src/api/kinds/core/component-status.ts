import { column, nameColumn, tableOf } from '../../table/table';
import { defineKind } from '../define-kind';
import { listAt, stringAt } from '../field-values';

function healthy(object: unknown): unknown {
  return listAt(object, 'conditions').find((condition) => stringAt(condition, 'type') === 'Healthy');
}

const HEALTH: Readonly<Record<string, string>> = { True: 'Healthy', False: 'Unhealthy' };

export const componentStatus = defineKind({
  group: '',
  kind: 'ComponentStatus',
  resource: 'componentstatuses',
  shortNames: ['cs'],
  namespaced: false,
  versions: [{ version: 'v1', lifecycle: { deprecated: '1.19' } }],
  verbs: ['get', 'list'],
  stored: false,
  table: tableOf([
    nameColumn,
    column(
      'Status',
      'Whether the component says that it is healthy.',
      (object) => HEALTH[stringAt(healthy(object), 'status')] ?? 'Unknown',
    ),
    column('Message', 'What the component answered.', (object) => stringAt(healthy(object), 'message')),
    column('Error', 'Why the component could not be asked.', (object) => stringAt(healthy(object), 'error')),
  ]),
});
