import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import {
  SYSTEM_PRIORITY_CLASSES,
  validatePriorityClass,
  validatePriorityClassUpdate,
} from '../../validation/priority-class';
import { defineKind } from '../define-kind';
import { booleanAt, numberAt } from '../field-values';

export const priorityClass = defineKind({
  group: 'scheduling.k8s.io',
  kind: 'PriorityClass',
  resource: 'priorityclasses',
  shortNames: ['pc'],
  namespaced: false,
  metadataOnUpdate: ['change'],
  versions: [
    'v1',
    {
      version: 'v1beta1',
      lifecycle: { deprecated: '1.14', removed: '1.22', replacement: 'scheduling.k8s.io/v1 PriorityClass' },
    },
    'v1alpha1',
  ],
  strategy: {
    // It has a generation that never moves.
    prepareForCreate: (object) => ({ ...object, metadata: { ...object.metadata, generation: 1 } }),
    validateCreate: validatePriorityClass,
    validateUpdate: validatePriorityClassUpdate,
  },
  refuseDelete: (name) =>
    Object.hasOwn(SYSTEM_PRIORITY_CLASSES, name) ? 'this is a system priority class and cannot be deleted' : undefined,
  table: tableOf([
    nameColumn,
    column('Value', 'The priority of pods of this class.', (object) => numberAt(object, 'value'), {
      type: 'integer',
    }),
    column(
      'Global-Default',
      'Whether pods without a class get this one.',
      (object) => booleanAt(object, 'globalDefault'),
      { type: 'boolean' },
    ),
    ageColumn,
  ]),
});
