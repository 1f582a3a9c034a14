import { apiVersionOf, type GroupVersionKind } from '../object';

/** Kinds in versions that are not served any more and that the API still knows by name: clients are told which one is. */
const RETIRED_KINDS: Readonly<Record<string, readonly string[]>> = {
  'apps/v1beta1': ['ControllerRevision', 'Deployment', 'DeploymentRollback', 'Scale', 'StatefulSet'],
  'apps/v1beta2': ['ControllerRevision', 'DaemonSet', 'Deployment', 'ReplicaSet', 'Scale', 'StatefulSet'],
  'extensions/v1beta1': [
    'DaemonSet',
    'Deployment',
    'DeploymentRollback',
    'NetworkPolicy',
    'PodSecurityPolicy',
    'ReplicaSet',
    'Scale',
  ],
  'rbac.authorization.k8s.io/v1alpha1': ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  'scheduling.k8s.io/v1alpha1': ['PriorityClass'],
  'node.k8s.io/v1alpha1': ['RuntimeClass'],
  'storage.k8s.io/v1alpha1': ['CSIStorageCapacity', 'VolumeAttachment'],
  'discovery.k8s.io/v1alpha1': ['EndpointSlice'],
  'flowcontrol.apiserver.k8s.io/v1alpha1': ['FlowSchema', 'PriorityLevelConfiguration'],
};

export function isRetiredKind({ group, version, kind }: GroupVersionKind): boolean {
  return RETIRED_KINDS[apiVersionOf(group, version)]?.includes(kind) ?? false;
}
