import { defineKind } from '../define-kind';
import { roleName } from '../../validation/names';
import { validateBinding, validateBindingUpdate } from '../../validation/rbac';
import { bindingTable, defaultBinding } from './binding';
import { RBAC_VERSIONS } from './rbac-versions';
import { RULES_METADATA } from './rules';

const scope = { namespaced: false };

export const clusterRoleBinding = defineKind({
  group: 'rbac.authorization.k8s.io',
  kind: 'ClusterRoleBinding',
  resource: 'clusterrolebindings',
  ...scope,
  metadataOnUpdate: RULES_METADATA,
  versions: RBAC_VERSIONS.clusterRoleBinding,
  validateName: roleName,
  applyDefaults: defaultBinding,
  strategy: { validateCreate: validateBinding(scope), validateUpdate: validateBindingUpdate(scope) },
  allowCreateOnUpdate: true,
  table: bindingTable,
});
