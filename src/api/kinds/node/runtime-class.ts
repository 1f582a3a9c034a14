import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import { validateRuntimeClass, validateRuntimeClassUpdate } from '../../validation/runtime-class';
import { defineKind } from '../define-kind';
import { stringAt } from '../field-values';
import { runtimeClassFromV1, runtimeClassToV1 } from './runtime-class-conversion';

export const runtimeClass = defineKind({
  group: 'node.k8s.io',
  kind: 'RuntimeClass',
  resource: 'runtimeclasses',
  namespaced: false,
  metadataOnUpdate: ['own', 'change'],
  unqualifiedFinalizers: true,
  versions: [
    'v1',
    { version: 'v1beta1', lifecycle: { deprecated: '1.22', removed: '1.25' } },
    { version: 'v1alpha1', convert: { toStorage: runtimeClassToV1, fromStorage: runtimeClassFromV1 } },
  ],
  storageVersion: 'v1beta1',
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  strategy: { validateCreate: validateRuntimeClass, validateUpdate: validateRuntimeClassUpdate },
  table: tableOf([
    nameColumn,
    column('Handler', 'What the container runtime calls this class.', (object) => stringAt(object, 'handler')),
    ageColumn,
  ]),
});
