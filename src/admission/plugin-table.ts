/** One admission plugin that the server knows. */
export interface PluginInfo {
  readonly name: string;
  /** Whether it is on unless a flag says otherwise. */
  readonly on: boolean;
  /** Why one should not turn it on, for the log. */
  readonly deprecated?: string;
  /** Why it cannot be turned on. */
  readonly unsupported?: string;
}

const FOR_TESTS = 'deprecated since 1.13: it has no use';

/**
 * All plugins in the order in which they are asked: kube-apiserver's. Those on by default are the specification's
 * (Versioning 5), and PodSecurity, which later releases have on as well.
 */
export const PLUGINS = [
  { name: 'AlwaysAdmit', on: false, deprecated: FOR_TESTS },
  { name: 'NamespaceAutoProvision', on: false },
  { name: 'NamespaceLifecycle', on: true },
  { name: 'NamespaceExists', on: false },
  { name: 'SecurityContextDeny', on: false },
  { name: 'LimitPodHardAntiAffinityTopology', on: false },
  { name: 'LimitRanger', on: true },
  { name: 'ServiceAccount', on: true },
  { name: 'NodeRestriction', on: false },
  { name: 'TaintNodesByCondition', on: true },
  { name: 'AlwaysPullImages', on: false },
  { name: 'ImagePolicyWebhook', on: false },
  { name: 'PodSecurity', on: true },
  { name: 'PodSecurityPolicy', on: false, unsupported: 'it is gone since 1.25: use PodSecurity' },
  { name: 'PodNodeSelector', on: false },
  { name: 'Priority', on: true },
  { name: 'DefaultTolerationSeconds', on: true },
  { name: 'PodTolerationRestriction', on: false },
  { name: 'DenyEscalatingExec', on: false, deprecated: 'deprecated since 1.13: use PodSecurity' },
  { name: 'DenyExecOnPrivileged', on: false, deprecated: 'deprecated since 1.13: use PodSecurity' },
  { name: 'EventRateLimit', on: false },
  { name: 'ExtendedResourceToleration', on: false },
  { name: 'PersistentVolumeLabel', on: false, unsupported: 'it needs a cloud provider in the server' },
  { name: 'DefaultStorageClass', on: true },
  { name: 'StorageObjectInUseProtection', on: true },
  { name: 'OwnerReferencesPermissionEnforcement', on: false },
  { name: 'PersistentVolumeClaimResize', on: true },
  { name: 'RuntimeClass', on: true },
  { name: 'CertificateApproval', on: true },
  { name: 'CertificateSigning', on: true },
  { name: 'CertificateSubjectRestriction', on: true },
  { name: 'DefaultIngressClass', on: true },
  { name: 'DenyServiceExternalIPs', on: false },
  { name: 'MutatingAdmissionWebhook', on: true },
  { name: 'ValidatingAdmissionPolicy', on: true },
  { name: 'ValidatingAdmissionWebhook', on: true },
  // After everything that may still refuse: it is the only one that writes.
  { name: 'ResourceQuota', on: true },
  { name: 'AlwaysDeny', on: false, deprecated: FOR_TESTS },
] as const satisfies readonly PluginInfo[];

export type PluginName = (typeof PLUGINS)[number]['name'];

/** What the flags say about plugins. */
export interface PluginFlags {
  readonly enable: readonly string[];
  readonly disable: readonly string[];
}

/** Which plugins are on, in order, with everything that is wrong with the flags or should be told. */
export interface PluginSelection {
  readonly names: readonly PluginName[];
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** A plugin that is both enabled and disabled is an error, as it is with kube-apiserver. */
export function selectPlugins({ enable, disable }: PluginFlags): PluginSelection {
  const plugins: readonly PluginInfo[] = PLUGINS;
  const known = new Set(plugins.map(({ name }) => name));
  const unknown = (flag: string, names: readonly string[]): readonly string[] =>
    names.filter((name) => !known.has(name)).map((name) => `${flag} plugin ${JSON.stringify(name)} is unknown`);
  const both = enable.filter((name) => disable.includes(name));
  const chosen = plugins.filter(({ name }) => enable.includes(name));
  return {
    names: PLUGINS.filter(({ name, on }) => enable.includes(name) || (on && !disable.includes(name))).map(
      ({ name }) => name,
    ),
    problems: [
      ...unknown('enable-admission-plugins', enable),
      ...unknown('disable-admission-plugins', disable),
      ...both.map((name) => `admission plugin ${name} cannot be both enabled and disabled`),
      ...chosen.flatMap(({ name, unsupported }) =>
        unsupported === undefined ? [] : [`admission plugin ${name} is not supported: ${unsupported}`],
      ),
    ],
    warnings: chosen.flatMap(({ name, deprecated }) =>
      deprecated === undefined ? [] : [`admission plugin ${name} is ${deprecated}`],
    ),
  };
}
