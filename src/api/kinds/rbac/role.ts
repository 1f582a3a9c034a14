import { nameAndCreationTable } from '../../table/table';
import { defineKind } from '../define-kind';
import { roleName } from '../../validation/names';
import { validateRole, validateRoleUpdate } from '../../validation/rbac';
import { RBAC_VERSIONS } from './rbac-versions';
import { RULES_METADATA, rulesStrategy } from './rules';

const scope = { namespaced: true };

export const role = defineKind({
  group: 'rbac.authorization.k8s.io',
  kind: 'Role',
  resource: 'roles',
  ...scope,
  metadataOnUpdate: RULES_METADATA,
  versions: RBAC_VERSIONS.role,
  validateName: roleName,
  strategy: { ...rulesStrategy, validateCreate: validateRole(scope), validateUpdate: validateRoleUpdate(scope) },
  allowCreateOnUpdate: true,
  table: nameAndCreationTable,
});
