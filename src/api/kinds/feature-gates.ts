import { GATED_FIELDS, type FieldGate } from './gated-fields';

/**
 * The feature gates of release 1.21 (facts: feature gates) by stage. Beta gates are on and alpha gates off unless said
 * otherwise below; gates that are generally available are on and cannot be turned off.
 */
const ALPHA = [
  'APIServerIdentity',
  'AnyVolumeDataSource',
  'BalanceAttachedNodeVolumes',
  'CSIMigrationAWSComplete',
  'CSIMigrationAzureDiskComplete',
  'CSIMigrationAzureFileComplete',
  'CSIMigrationGCEComplete',
  'CSIMigrationOpenStackComplete',
  'CSIVolumeHealth',
  'CustomCPUCFSQuotaPeriod',
  'EndpointSliceTerminatingCondition',
  'EphemeralContainers',
  'HPAContainerMetrics',
  'HPAScaleToZero',
  'IndexedJob',
  'IngressClassNamespacedParams',
  'KubeletCredentialProviders',
  'LocalStorageCapacityIsolationFSQuotaMonitoring',
  'LogarithmicScaleDown',
  'MemoryManager',
  'MixedProtocolLBService',
  'NetworkPolicyEndPort',
  'PodAffinityNamespaceSelector',
  'PodDeletionCost',
  'PreferNominatedNode',
  'ProbeTerminationGracePeriod',
  'ProcMountType',
  'QOSReserved',
  'ServiceInternalTrafficPolicy',
  'ServiceLBNodePortControl',
  'ServiceLoadBalancerClass',
  'SizeMemoryBackedVolumes',
  'StorageVersionAPI',
  'SuspendJob',
  'TopologyAwareHints',
  'VolumeCapacityPriority',
  'WinDSR',
];
const BETA = [
  'APIListChunking',
  'APIPriorityAndFairness',
  'APIResponseCompression',
  'AllowInsecureBackendProxy',
  'AppArmor',
  'BoundServiceAccountTokenVolume',
  'CPUManager',
  'CSIInlineVolume',
  'CSIMigration',
  'CSIMigrationAWS',
  'CSIMigrationAzureDisk',
  'CSIMigrationAzureFile',
  'CSIMigrationGCE',
  'CSIMigrationOpenStack',
  'CSIMigrationvSphere',
  'CSIMigrationvSphereComplete',
  'CSIServiceAccountToken',
  'CSIStorageCapacity',
  'CSIVolumeFSGroupPolicy',
  'ConfigurableFSGroupPolicy',
  'CronJobControllerV2',
  'DefaultPodTopologySpread',
  'DevicePlugins',
  'DisableAcceleratorUsageMetrics',
  'DownwardAPIHugePages',
  'DynamicKubeletConfig',
  'EfficientWatchResumption',
  'EndpointSliceProxying',
  'ExpandCSIVolumes',
  'ExpandInUsePersistentVolumes',
  'ExpandPersistentVolumes',
  'ExperimentalHostUserNamespaceDefaulting',
  'GenericEphemeralVolume',
  'GracefulNodeShutdown',
  'HugePageStorageMediumSize',
  'IPv6DualStack',
  'KubeletPodResources',
  'LocalStorageCapacityIsolation',
  'NamespaceDefaultLabelName',
  'NonPreemptingPriority',
  'PodOverhead',
  'RemainingItemCount',
  'RemoveSelfLink',
  'RotateKubeletServerCertificate',
  'ServerSideApply',
  'SetHostnameAsFQDN',
  'StorageVersionHash',
  'TTLAfterFinished',
  'TopologyManager',
  'ValidateProxyRedirects',
  'WarningHeaders',
  'WinOverlay',
  'WindowsEndpointSliceProxying',
];
const STABLE = [
  'AdvancedAuditing',
  'AttachVolumeLimit',
  'BlockVolume',
  'CRIContainerLogRotation',
  'CSIBlockVolume',
  'CSIDriverRegistry',
  'CSINodeInfo',
  'DryRun',
  'EndpointSlice',
  'EndpointSliceNodeName',
  'EvenPodsSpread',
  'ExecProbeTimeout',
  'ExternalPolicyForExternalIP',
  'ImmutableEphemeralVolumes',
  'LegacyNodeRoleBehavior',
  'NodeDisruptionExclusion',
  'NodeLease',
  'PodDisruptionBudget',
  'RootCAConfigMap',
  'RotateKubeletClientCertificate',
  'RunAsGroup',
  'RuntimeClass',
  'SCTPSupport',
  'SelectorIndex',
  'ServiceAccountIssuerDiscovery',
  'ServiceAppProtocol',
  'ServiceNodeExclusion',
  'StartupProbe',
  'StorageObjectInUseProtection',
  'SupportNodePidsLimit',
  'SupportPodPidsLimit',
  'Sysctls',
  'TokenRequest',
  'TokenRequestProjection',
  'VolumePVCDataSource',
  'VolumeSnapshotDataSource',
  'VolumeSubpath',
  'WatchBookmark',
  'WindowsGMSA',
  'WindowsRunAsUserName',
];
const DEPRECATED = ['HyperVContainer', 'ServiceTopology', 'StreamingProxyRedirects'];

/** Every gate of a stage at once; a gate that is named itself is as it is named. */
const STAGES: Readonly<Record<string, readonly string[]>> = { AllAlpha: ALPHA, AllBeta: BETA };
const KNOWN: ReadonlySet<string> = new Set([...Object.keys(STAGES), ...ALPHA, ...BETA, ...STABLE, ...DEPRECATED]);
/** The one gate that became generally available by being turned off. */
const STABLE_OFF: ReadonlySet<string> = new Set(['LegacyNodeRoleBehavior']);

/** What the other gates here turn on and off is fields. */
const OTHER_GATES = {
  /** Off: lists come whole. */
  APIListChunking: true,
  /** Off: no request waits for others. */
  APIPriorityAndFairness: true,
  APIResponseCompression: true,
  /** Off: what annotations say of AppArmor profiles is dropped. */
  AppArmor: true,
  /** Off: pods get the token from a secret of their service account, as before 1.21. */
  BoundServiceAccountTokenVolume: true,
  /** On: the downward API shows huge pages. */
  DownwardAPIHugePages: false,
  /** On: an autoscaler may scale to zero. */
  HPAScaleToZero: false,
  /** Off: a pod has huge pages of one size. */
  HugePageStorageMediumSize: true,
  /** Off: services have addresses of one family, and do not speak of it; nodes have one range of addresses. */
  IPv6DualStack: true,
  /** On: the ports of a load balancer may have several protocols. */
  MixedProtocolLBService: false,
  /** On: every namespace has its name as a label. Release 1.20 did not know it, which is why it is off unless asked for. */
  NamespaceDefaultLabelName: false,
  /** On: what it costs to lose a pod has to be a number. */
  PodDeletionCost: false,
  /** Off: pages do not say how many objects are left. */
  RemainingItemCount: true,
  /** Off: no apply patches, and no managedFields. */
  ServerSideApply: true,
  /** Off: discovery does not tell in which version a resource is stored. */
  StorageVersionHash: true,
  /** Off: answers carry no warnings. */
  WarningHeaders: true,
};

/**
 * Fields that are stable today are on, also those that were alpha in 1.21. The port ranges of network policies are the
 * exception that the specification makes; a service's topology keys are gone since, and other ways of mounting /proc are
 * not stable yet.
 */
const OFF_FIELDS: ReadonlySet<FieldGate> = new Set<FieldGate>([
  'NetworkPolicyEndPort',
  'ProcMountType',
  'ServiceTopology',
]);

const DEFAULTS = {
  ...OTHER_GATES,
  ...(Object.fromEntries(
    (Object.keys(GATED_FIELDS) as FieldGate[]).map((gate) => [gate, !OFF_FIELDS.has(gate)]),
  ) as Readonly<Record<FieldGate, boolean>>),
};

/** A gate that makes a difference here. */
export type FeatureGate = keyof typeof DEFAULTS;
export type FeatureGates = { readonly [Gate in FeatureGate]: boolean };

export const DEFAULT_GATES: FeatureGates = DEFAULTS;

const TRUE = ['1', 't', 'T', 'true', 'TRUE', 'True'];
const FALSE = ['0', 'f', 'F', 'false', 'FALSE', 'False'];

interface Setting {
  readonly name: string;
  /** Absent: no equals sign. */
  readonly value: string | undefined;
}

function readSetting(text: string): Setting {
  const equals = text.indexOf('=');
  return equals < 0
    ? { name: text.trim(), value: undefined }
    : { name: text.slice(0, equals).trim(), value: text.slice(equals + 1).trim() };
}

/** The first thing that is wrong with the settings, in kube-apiserver's words: how they are written comes first. */
function problemOf(settings: readonly Setting[]): string | undefined {
  for (const { name, value } of settings) {
    if (value === undefined) return `missing bool value for ${name}`;
    if (!TRUE.includes(value) && !FALSE.includes(value)) {
      return `invalid value of ${name}=${value}, err: strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`;
    }
  }
  const unknown = settings.find(({ name }) => !KNOWN.has(name));
  if (unknown !== undefined) return `unrecognized feature gate: ${unknown.name}`;
  const turned = settings.find(
    ({ name, value = '' }) => STABLE.includes(name) && TRUE.includes(value) !== isLocked(name),
  );
  if (turned === undefined) return undefined;
  return `cannot set feature gate ${turned.name} to ${!isLocked(turned.name)}, feature is locked to ${isLocked(turned.name)}`;
}

/** What a generally available gate is and stays. */
function isLocked(name: string): boolean {
  return !STABLE_OFF.has(name);
}

/**
 * `--feature-gates` read: settings such as `Gate=true`. Gates that release 1.21 does not know, and generally available
 * ones that are to be turned off, are problems; gates that nothing here depends on are taken with a warning.
 */
export function parseFeatureGates(settings: readonly string[]): {
  readonly gates: FeatureGates;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
} {
  const given = settings.filter((text) => text.trim() !== '').map(readSetting);
  const problem = problemOf(given);
  if (problem !== undefined) {
    const argument = JSON.stringify(settings.join(','));
    return {
      gates: DEFAULT_GATES,
      problems: [`invalid argument ${argument} for "--feature-gates" flag: ${problem}`],
      warnings: [],
    };
  }
  const named = new Map(given.map(({ name, value = '' }) => [name, TRUE.includes(value)]));
  const gates: { [Gate in FeatureGate]: boolean } = { ...DEFAULT_GATES };
  const set = (name: string, value: boolean): void => {
    if (Object.hasOwn(gates, name)) gates[name as FeatureGate] = value;
  };
  for (const [stage, members] of Object.entries(STAGES)) {
    const value = named.get(stage);
    if (value !== undefined) members.forEach((name) => set(name, value));
  }
  named.forEach((value, name) => set(name, value));
  return { gates, problems: [], warnings: [...named.keys()].flatMap(warningsOf) };
}

function warningsOf(name: string): readonly string[] {
  if (Object.hasOwn(STAGES, name) || Object.hasOwn(DEFAULT_GATES, name)) return [];
  return STABLE.includes(name)
    ? [`feature gate ${name} is generally available; setting it has no effect`]
    : [`feature gate ${name} is accepted but has no effect`];
}
