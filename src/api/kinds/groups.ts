/**
 * The groups that the server has itself, with the priorities of their APIServices: groups are served in descending
 * order of `groupPriority` (then by name), versions within a group in descending order of `versionPriority`; the first
 * is the preferred one. apiregistration.k8s.io, the group of the APIServices themselves, stands before all others.
 */
export interface GroupDefinition {
  /** The core group is the empty string. */
  readonly name: string;
  /** `spec.groupPriorityMinimum`. */
  readonly groupPriority: number;
  /** In order of preference. */
  readonly versions: readonly VersionPriority[];
}

export interface VersionPriority {
  readonly version: string;
  /** `spec.versionPriority`. */
  readonly versionPriority: number;
}

/** What the APIServices of custom resources have. */
export const CUSTOM_RESOURCE_PRIORITY = { groupPriority: 1000, versionPriority: 100 } as const;

function group(name: string, groupPriority: number, versions: Readonly<Record<string, number>>): GroupDefinition {
  return {
    name,
    groupPriority,
    versions: Object.entries(versions)
      .map(([version, versionPriority]) => ({ version, versionPriority }))
      .sort((left, right) => right.versionPriority - left.versionPriority),
  };
}

/** In the order in which they are served; alpha versions only when `--runtime-config` switches them on. */
export const GROUPS: readonly GroupDefinition[] = [
  group('', 18_000, { v1: 1 }),
  // It has no APIServices of its own: the server that keeps them answers for it.
  group('apiregistration.k8s.io', 20_000, { v1: 15, v1beta1: 9 }),
  group('apps', 17_800, { v1: 15 }),
  group('events.k8s.io', 17_750, { v1: 15, v1beta1: 5 }),
  group('authentication.k8s.io', 17_700, { v1: 15, v1beta1: 9 }),
  group('authorization.k8s.io', 17_600, { v1: 15, v1beta1: 9 }),
  // v2 came after the release that this server implements; v1 stays the preferred version.
  group('autoscaling', 17_500, { v1: 15, v2: 10, v2beta1: 9, v2beta2: 1 }),
  group('batch', 17_400, { v1: 15, v1beta1: 9, v2alpha1: 9 }),
  group('certificates.k8s.io', 17_300, { v1: 15, v1beta1: 9 }),
  group('networking.k8s.io', 17_200, { v1: 15, v1beta1: 9 }),
  group('extensions', 17_150, { v1beta1: 1 }),
  group('policy', 17_100, { v1: 15, v1beta1: 9 }),
  group('rbac.authorization.k8s.io', 17_000, { v1: 15, v1beta1: 12, v1alpha1: 9 }),
  group('storage.k8s.io', 16_800, { v1: 15, v1beta1: 9, v1alpha1: 1 }),
  group('admissionregistration.k8s.io', 16_700, { v1: 15, v1beta1: 12 }),
  group('apiextensions.k8s.io', 16_700, { v1: 15, v1beta1: 9 }),
  group('scheduling.k8s.io', 16_600, { v1: 15, v1beta1: 12, v1alpha1: 9 }),
  group('coordination.k8s.io', 16_500, { v1: 15, v1beta1: 9 }),
  group('node.k8s.io', 16_300, { v1: 15, v1beta1: 9, v1alpha1: 1 }),
  group('discovery.k8s.io', 16_200, { v1: 15, v1beta1: 12, v1alpha1: 9 }),
  // As for autoscaling.
  group('flowcontrol.apiserver.k8s.io', 16_100, { v1beta1: 12, v1: 11, v1beta3: 10, v1beta2: 10, v1alpha1: 9 }),
  group('internal.apiserver.k8s.io', 16_000, { v1alpha1: 9 }),
];

/** The version of a group that discovery prefers; undefined for a group that is not built in. */
export function preferredVersion(name: string): string | undefined {
  return GROUPS.find((definition) => definition.name === name)?.versions[0]?.version;
}
