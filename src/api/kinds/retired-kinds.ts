import { apiVersionOf, type GroupVersionKind } from '../object';

/** Kinds in versions that are not served any more and that the API still knows by name: clients are told which one is. */
const RETIRED_KINDS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
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
  }),
);

/** The group versions of which the API knows kinds that are not served any more. */
export const RETIRED_VERSIONS: readonly string[] = [...RETIRED_KINDS.keys()];

export function isRetiredKind({ group, version, kind }: GroupVersionKind): boolean {
  return RETIRED_KINDS.get(apiVersionOf(group, version))?.includes(kind) ?? false;
}
