import { nameAndCreationTable } from '../../table/table';
import { defineKind } from '../define-kind';
import { roleName } from '../../validation/names';
import { validateRole, validateRoleUpdate } from '../../validation/rbac';
import { RBAC_VERSIONS } from './rbac-versions';
import { RULES_METADATA, rulesStrategy } from './rules';

const scope = { namespaced: false };

export const clusterRole = defineKind({
  group: 'rbac.authorization.k8s.io',
  kind: 'ClusterRole',
  resource: 'clusterroles',
  ...scope,
  metadataOnUpdate: RULES_METADATA,
  versions: RBAC_VERSIONS.clusterRole,
  validateName: roleName,
  strategy: { ...rulesStrategy, validateCreate: validateRole(scope), validateUpdate: validateRoleUpdate(scope) },
  allowCreateOnUpdate: true,
  table: nameAndCreationTable,
});
