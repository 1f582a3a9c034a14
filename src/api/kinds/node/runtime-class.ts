import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import { validateRuntimeClass, validateRuntimeClassUpdate } from '../../validation/runtime-class';
import { defineKind } from '../define-kind';
import { stringAt } from '../field-values';

export const runtimeClass = defineKind({
  group: 'node.k8s.io',
  kind: 'RuntimeClass',
  resource: 'runtimeclasses',
  namespaced: false,
  versions: ['v1', { version: 'v1beta1', lifecycle: { deprecated: '1.22', removed: '1.25' } }],
  storageVersion: 'v1beta1',
  allowUnconditionalUpdate: false,
  strategy: { validateCreate: validateRuntimeClass, validateUpdate: validateRuntimeClassUpdate },
  table: tableOf([
    nameColumn,
    column('Handler', 'What the container runtime calls this class.', (object) => stringAt(object, 'handler')),
    ageColumn,
  ]),
});
