import type { KubeObject } from '../object';
import { changeFields, hasField, parseFieldPath, type FieldPath } from './field-path';
import type { KindDefinition } from './kind-definition';

/** Where kinds have a pod's spec. */
const POD_SPECS: Readonly<Record<string, string>> = {
  Pod: 'spec',
  PodTemplate: 'template.spec',
  ReplicationController: 'spec.template.spec',
  DaemonSet: 'spec.template.spec',
  Deployment: 'spec.template.spec',
  ReplicaSet: 'spec.template.spec',
  StatefulSet: 'spec.template.spec',
  Job: 'spec.template.spec',
  CronJob: 'spec.jobTemplate.spec.template.spec',
};
const JOB_SPECS: Readonly<Record<string, string>> = { Job: 'spec', CronJob: 'spec.jobTemplate.spec' };
const CONTAINERS = ['initContainers.*', 'containers.*', 'ephemeralContainers.*'];
const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'];
const AFFINITY_TERMS = ['affinity.podAffinity', 'affinity.podAntiAffinity'].flatMap((affinity) => [
  `${affinity}.requiredDuringSchedulingIgnoredDuringExecution.*`,
  `${affinity}.preferredDuringSchedulingIgnoredDuringExecution.*.podAffinityTerm`,
]);

/** Fields of a kind, or of the pods' specs, containers and jobs' specs wherever they are. */
type GatedFields = Readonly<Record<string, readonly string[]>>;

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

/** The paths of a gate's fields in a kind. */
export function gatedPaths(kind: string, gate: FieldGate): readonly FieldPath[] {
  const fields: GatedFields = GATED_FIELDS[gate];
  const podSpec = POD_SPECS[kind];
  const jobSpec = JOB_SPECS[kind];
  const inside = (prefix: string, paths: readonly string[] = []): readonly string[] =>
    paths.map((path) => `${prefix}.${path}`);
  return [
    ...(fields[kind] ?? []),
    ...(jobSpec === undefined ? [] : inside(jobSpec, fields['jobSpec'])),
    ...(podSpec === undefined ? [] : inside(podSpec, fields['podSpec'])),
    ...(podSpec === undefined
      ? []
      : CONTAINERS.flatMap((container) => inside(`${podSpec}.${container}`, fields['container']))),
  ].map(parseFieldPath);
}

/** A gate's fields go together: an object that has one of them already may have them all. */
function drop(object: KubeObject, old: KubeObject | undefined, gates: readonly (readonly FieldPath[])[]): KubeObject {
  return gates.reduce(
    (result, paths) =>
      old !== undefined && paths.some((path) => hasField(old, path))
        ? result
        : paths.reduce((rest, path) => changeFields(rest, path, () => undefined), result),
    object,
  );
}

/**
 * The kind as it is with some gates off: a write drops their fields without a word, unless the object that is there uses
 * them, so that turning a gate off loses nothing. The definition itself when none of the gates concerns it.
 */
export function withoutGatedFields(definition: KindDefinition, isOn: (gate: FieldGate) => boolean): KindDefinition {
  const off = (Object.keys(GATED_FIELDS) as FieldGate[])
    .filter((gate) => !isOn(gate))
    .map((gate) => gatedPaths(definition.kind, gate))
    .filter((paths) => paths.length > 0);
  if (off.length === 0) return definition;
  const { prepareForCreate = (object) => object, prepareForUpdate = (object) => object } = definition.strategy;
  return {
    ...definition,
    strategy: {
      ...definition.strategy,
      prepareForCreate: (object, request) => drop(prepareForCreate(object, request), undefined, off),
      prepareForUpdate: (object, old, request) => drop(prepareForUpdate(object, old, request), old, off),
    },
  };
}
