import type { VersionInput } from '../define-kind';
import { bindingFromV1, bindingToV1 } from './binding-conversion';

function versions(kind: string, alpha: Pick<VersionInput, 'convert'> = {}): readonly (string | VersionInput)[] {
  return [
    'v1',
    {
      version: 'v1beta1',
      lifecycle: { deprecated: '1.17', removed: '1.22', replacement: `rbac.authorization.k8s.io/v1 ${kind}` },
    },
    { version: 'v1alpha1', ...alpha },
  ];
}

const binding = { convert: { toStorage: bindingToV1, fromStorage: bindingFromV1 } };

/** The group's kinds have come the same way. */
export const RBAC_VERSIONS = {
  role: versions('Role'),
  roleBinding: versions('RoleBinding', binding),
  clusterRole: versions('ClusterRole'),
  clusterRoleBinding: versions('ClusterRoleBinding', binding),
} as const;
