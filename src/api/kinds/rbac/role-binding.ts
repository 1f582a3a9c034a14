import { defineKind } from '../define-kind';
import { roleName } from '../../validation/names';
import { validateBinding, validateBindingUpdate } from '../../validation/rbac';
import { bindingTable, defaultBinding } from './binding';
import { RBAC_VERSIONS } from './rbac-versions';
import { RULES_METADATA } from './rules';

const scope = { namespaced: true };

export const roleBinding = defineKind({
  group: 'rbac.authorization.k8s.io',
  kind: 'RoleBinding',
  resource: 'rolebindings',
  ...scope,
  metadataOnUpdate: RULES_METADATA,
  versions: RBAC_VERSIONS.roleBinding,
  validateName: roleName,
  applyDefaults: defaultBinding,
  strategy: { validateCreate: validateBinding(scope), validateUpdate: validateBindingUpdate(scope) },
  allowCreateOnUpdate: true,
  table: bindingTable,
});
