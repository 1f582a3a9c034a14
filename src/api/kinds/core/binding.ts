import { defineKind } from '../define-kind';

export const binding = defineKind({
  group: '',
  kind: 'Binding',
  resource: 'bindings',
  namespaced: true,
  versions: ['v1'],
  verbs: ['create'],
  stored: false,
});
