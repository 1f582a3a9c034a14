import { keysOf } from '../../parts';
import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import { validateSecret, validateSecretUpdate } from '../../validation/secret';
import { defineKind, textField } from '../define-kind';
import { mapAt, stringAt } from '../field-values';
import { mergeStringData, prepareSecretForUpdate } from './secret-strategy';

export const secret = defineKind({
  group: '',
  kind: 'Secret',
  resource: 'secrets',
  namespaced: true,
  versions: ['v1'],
  applyDefaults: mergeStringData,
  strategy: {
    prepareForUpdate: prepareSecretForUpdate,
    validateCreate: validateSecret,
    validateUpdate: validateSecretUpdate,
  },
  selectableFields: { type: textField('type') },
  table: tableOf([
    nameColumn,
    column('Type', 'What the secret is for.', (object) => stringAt(object, 'type')),
    column('Data', 'How many keys there are.', (object) => keysOf(mapAt(object, 'data')).length),
    ageColumn,
  ]),
});
