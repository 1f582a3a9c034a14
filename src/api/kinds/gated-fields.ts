import type { KubeObject } from '../object';
import { changeFields, fieldsAt, parseFieldPath, type FieldPath } from './field-path';
import type { KindDefinition, Strategy } from './kind-definition';
import { POD_PATHS } from './pod-paths';
import { withSpecStrategies } from './strategies';

const JOB_SPECS: Readonly<Record<string, FieldPath>> = { Job: ['spec'], CronJob: ['spec', 'jobTemplate', 'spec'] };
const CONTAINERS = ['initContainers.*', 'containers.*', 'ephemeralContainers.*'].map(parseFieldPath);
const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'];
const AFFINITY_TERMS = ['affinity.podAffinity', 'affinity.podAntiAffinity'].flatMap((affinity) => [
  `${affinity}.requiredDuringSchedulingIgnoredDuringExecution.*`,
  `${affinity}.preferredDuringSchedulingIgnoredDuringExecution.*.podAffinityTerm`,
]);

/** One that does not go but falls back to a value; an object in which it has that value does not use it. */
interface FieldWithFallback {
  readonly field: string;
  readonly fallback: unknown;
}

/** Fields of a kind, or of the pods' specs, containers and jobs' specs wherever they are. */
type GatedFields = Readonly<Record<string, readonly (string | FieldWithFallback)[]>>;

/**
 * Fields that are there only while their feature gate is on (facts: feature gates), in the storage version. The gates of
 * fields that are always on have no effect and are not here.
 */
export const GATED_FIELDS = {
  AnyVolumeDataSource: { PersistentVolumeClaim: ['spec.dataSourceRef'] },
  CSIInlineVolume: { podSpec: ['volumes.*.csi'] },
  CSIServiceAccountToken: { CSIDriver: ['spec.tokenRequests', 'spec.requiresRepublish'] },
  CSIStorageCapacity: { CSIDriver: ['spec.storageCapacity'] },
  CSIVolumeFSGroupPolicy: { CSIDriver: ['spec.fsGroupPolicy'] },
  ConfigurableFSGroupPolicy: { podSpec: ['securityContext.fsGroupChangePolicy'] },
  DynamicKubeletConfig: { Node: ['spec.configSource'] },
  EndpointSliceTerminatingCondition: {
    EndpointSlice: ['endpoints.*.conditions.serving', 'endpoints.*.conditions.terminating'],
  },
  EphemeralContainers: { Pod: ['spec.ephemeralContainers'] },
  ExpandPersistentVolumes: { StorageClass: ['allowVolumeExpansion'] },
  GenericEphemeralVolume: { podSpec: ['volumes.*.ephemeral'] },
  HPAContainerMetrics: { HorizontalPodAutoscaler: ['spec.metrics.*.containerResource'] },
  IndexedJob: { jobSpec: ['completionMode'], Job: ['status.completedIndexes'] },
  IngressClassNamespacedParams: { IngressClass: ['spec.parameters.scope', 'spec.parameters.namespace'] },
  LocalStorageCapacityIsolation: { podSpec: ['volumes.*.emptyDir.sizeLimit'] },
  NetworkPolicyEndPort: { NetworkPolicy: ['spec.ingress.*.ports.*.endPort', 'spec.egress.*.ports.*.endPort'] },
  NonPreemptingPriority: { PriorityClass: ['preemptionPolicy'], podSpec: ['preemptionPolicy'] },
  PodAffinityNamespaceSelector: { podSpec: AFFINITY_TERMS.map((term) => `${term}.namespaceSelector`) },
  PodOverhead: { podSpec: ['overhead'], RuntimeClass: ['overhead'] },
  ProbeTerminationGracePeriod: { container: PROBES.map((probe) => `${probe}.terminationGracePeriodSeconds`) },
  ProcMountType: {
    container: [{ field: 'securityContext.procMount', fallback: 'Default' }],
    PodSecurityPolicy: ['spec.allowedProcMountTypes'],
  },
  ServiceInternalTrafficPolicy: { Service: ['spec.internalTrafficPolicy'] },
  ServiceLBNodePortControl: { Service: ['spec.allocateLoadBalancerNodePorts'] },
  ServiceLoadBalancerClass: { Service: ['spec.loadBalancerClass'] },
  ServiceTopology: { Service: ['spec.topologyKeys'] },
  SetHostnameAsFQDN: { podSpec: ['setHostnameAsFQDN'] },
  SuspendJob: { jobSpec: ['suspend'] },
  TTLAfterFinished: { jobSpec: ['ttlSecondsAfterFinished'] },
  TopologyAwareHints: { EndpointSlice: ['endpoints.*.hints'] },
} as const satisfies Readonly<Record<string, GatedFields>>;

export type FieldGate = keyof typeof GATED_FIELDS;

interface GatedField {
  readonly path: FieldPath;
  /** What stands there while the gate is off; undefined: nothing. */
  readonly fallback: unknown;
}

/** The fields of a gate in a kind. */
export function gatedFields(kind: string, gate: FieldGate): readonly GatedField[] {
  const fields: GatedFields = GATED_FIELDS[gate];
  const under = (prefix: FieldPath | undefined, part: string): readonly GatedField[] =>
    prefix === undefined
      ? []
      : (fields[part] ?? []).map((one) => {
          const { field, fallback } = typeof one === 'string' ? { field: one, fallback: undefined } : one;
          return { path: [...prefix, ...parseFieldPath(field)], fallback };
        });
  const podPath = POD_PATHS[kind];
  const podSpec = podPath && [...podPath, 'spec'];
  return [
    ...under([], kind),
    ...under(JOB_SPECS[kind], 'jobSpec'),
    ...under(podSpec, 'podSpec'),
    ...CONTAINERS.flatMap((container) => under(podSpec && [...podSpec, ...container], 'container')),
  ];
}

function isUsed(object: KubeObject | undefined, { path, fallback }: GatedField): boolean {
  return fieldsAt(object, path).some((value) => value !== fallback);
}

/** A gate's fields go together: an object that uses one of them already may use them all. */
function drop(object: KubeObject, old: KubeObject | undefined, gates: readonly (readonly GatedField[])[]): KubeObject {
  return gates
    .filter((fields) => !fields.some((field) => isUsed(old, field)))
    .flat()
    .reduce((result, { path, fallback }) => changeFields(result, path, () => fallback), object);
}

function droppingStrategy(strategy: Strategy, gates: readonly (readonly GatedField[])[]): Strategy {
  const { prepareForCreate = (object) => object, prepareForUpdate = (object) => object } = strategy;
  return {
    ...strategy,
    prepareForCreate: (object, request) => drop(prepareForCreate(object, request), undefined, gates),
    prepareForUpdate: (object, old, request) => drop(prepareForUpdate(object, old, request), old, gates),
  };
}

/**
 * The kind as it is with some gates off: a write drops their fields without a word, unless the object that is there uses
 * them, so that turning a gate off loses nothing. The definition itself when none of the gates concerns it.
 */
export function withoutGatedFields(definition: KindDefinition, isOn: (gate: FieldGate) => boolean): KindDefinition {
  const off = (Object.keys(GATED_FIELDS) as FieldGate[])
    .filter((gate) => !isOn(gate))
    .map((gate) => gatedFields(definition.kind, gate))
    .filter((fields) => fields.length > 0);
  return off.length === 0 ? definition : withSpecStrategies(definition, (strategy) => droppingStrategy(strategy, off));
}
