import type { VersionInput } from '../define-kind';

function versions(kind: string): readonly (string | VersionInput)[] {
  return [
    'v1',
    {
      version: 'v1beta1',
      lifecycle: { deprecated: '1.17', removed: '1.22', replacement: `rbac.authorization.k8s.io/v1 ${kind}` },
    },
  ];
}

/** The group's kinds have come the same way. */
export const RBAC_VERSIONS = {
  role: versions('Role'),
  roleBinding: versions('RoleBinding'),
  clusterRole: versions('ClusterRole'),
  clusterRoleBinding: versions('ClusterRoleBinding'),
} as const;
