import { keysOf } from '../../parts';
import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import { validateConfigMap, validateConfigMapUpdate } from '../../validation/config-map';
import { defineKind } from '../define-kind';
import { mapAt } from '../field-values';

export const configMap = defineKind({
  group: '',
  kind: 'ConfigMap',
  resource: 'configmaps',
  shortNames: ['cm'],
  namespaced: true,
  versions: ['v1'],
  strategy: { validateCreate: validateConfigMap, validateUpdate: validateConfigMapUpdate },
  table: tableOf([
    nameColumn,
    column(
      'Data',
      'How many keys there are, textual and binary.',
      (object) => keysOf(mapAt(object, 'data')).length + keysOf(mapAt(object, 'binaryData')).length,
    ),
    ageColumn,
  ]),
});
