import type { KubeObject } from '../../object';
import type { Container, Pod, PodSpec, PodStatus, SeccompProfile } from '../../schema/generated/core-v1';
import { validateEphemeralContainersUpdate } from '../../validation/ephemeral-containers-update';
import { validatePodCreate } from '../../validation/pod';
import { validatePodStatusUpdate } from '../../validation/pod-status-update';
import { validatePodUpdate } from '../../validation/pod-update';
import {
  annotationOfProfile,
  profileOfAnnotation,
  SECCOMP_CONTAINER_ANNOTATION_PREFIX,
  SECCOMP_POD_ANNOTATION,
} from '../../validation/pod/seccomp';
import type { Strategy } from '../kind-definition';
import { keepSpec, keepStatus } from '../strategies';
import { qosClassOf } from './pod-qos';

const LISTS = ['initContainers', 'containers'] as const;

/** The specification with every container changed. */
function mapContainers(spec: PodSpec, change: (container: Container) => Container): PodSpec {
  const lists = LISTS.filter((list) => spec[list]).map((list) => [list, (spec[list] ?? []).map(change)] as const);
  return { ...spec, ...Object.fromEntries(lists) };
}

/** Ephemeral containers come through a subresource of their own only. */
function withEphemeralContainersOf(spec: PodSpec, old: PodSpec | undefined): PodSpec {
  const { ephemeralContainers: _sent, ...rest } = spec;
  const kept = old?.ephemeralContainers;
  return kept === undefined ? rest : { ...rest, ephemeralContainers: kept };
}

type Annotations = Readonly<Record<string, string>>;

/** Which of field and annotation has to be set, so that kubelets of all ages read the same. */
function matchSeccomp(
  profile: SeccompProfile | undefined,
  key: string,
  annotations: Annotations,
): { readonly profile?: SeccompProfile; readonly annotation?: string } {
  const annotation = annotations[key];
  if (profile !== undefined && annotation === undefined) {
    const said = annotationOfProfile(profile);
    return said === undefined ? {} : { annotation: said };
  }
  if (profile !== undefined || annotation === undefined) return {};
  const said = profileOfAnnotation(annotation);
  return said === undefined ? {} : { profile: said };
}

function syncSeccomp(pod: Pod): Pod {
  const annotations: Record<string, string> = { ...pod.metadata.annotations };
  const before = Object.keys(annotations).length;
  const sync = <T extends { readonly securityContext?: object }>(owner: T, key: string): T => {
    if (owner.securityContext === undefined && before === 0) return owner;
    const context = (owner.securityContext ?? {}) as { readonly seccompProfile?: SeccompProfile };
    const { profile, annotation } = matchSeccomp(context.seccompProfile, key, annotations);
    if (annotation !== undefined) annotations[key] = annotation;
    return profile === undefined ? owner : { ...owner, securityContext: { ...context, seccompProfile: profile } };
  };
  const ofPod = sync(pod.spec ?? {}, SECCOMP_POD_ANNOTATION);
  const spec = mapContainers(ofPod, (container) =>
    sync(container, `${SECCOMP_CONTAINER_ANNOTATION_PREFIX}${container.name ?? ''}`),
  );
  const changed = Object.keys(annotations).length > before;
  return { ...pod, ...(changed ? { metadata: { ...pod.metadata, annotations } } : {}), spec };
}

const GATED = {
  type: 'PodScheduled',
  status: 'False',
  lastProbeTime: null,
  lastTransitionTime: null,
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
};

function initialStatus(spec: PodSpec): PodStatus {
  const gated = (spec.schedulingGates ?? []).length > 0;
  return { phase: 'Pending', ...(gated ? { conditions: [GATED] } : {}), qosClass: qosClassOf(spec) };
}

function prepareForCreate(object: KubeObject): KubeObject {
  const pod = object as Pod;
  const spec = withEphemeralContainersOf(pod.spec ?? {}, undefined);
  return syncSeccomp({ ...pod, spec, status: initialStatus(spec) });
}

function prepareForUpdate(object: KubeObject, old: KubeObject): KubeObject {
  const pod = object as Pod;
  const spec = withEphemeralContainersOf(pod.spec ?? {}, (old as Pod).spec);
  return keepStatus({ ...pod, spec }, old);
}

/** Old kubelets send owners that they do not understand back mutilated: owners stay as they were. */
function prepareStatusForUpdate(object: KubeObject, old: KubeObject): KubeObject {
  const { ownerReferences: _sent, ...metadata } = object.metadata;
  const kept = old.metadata.ownerReferences;
  return keepSpec({ ...object, metadata: kept === undefined ? metadata : { ...metadata, ownerReferences: kept } }, old);
}

export const podStrategy: Strategy = {
  prepareForCreate,
  prepareForUpdate,
  validateCreate: validatePodCreate,
  validateUpdate: validatePodUpdate,
};

export const podStatusStrategy: Strategy = {
  prepareForUpdate: prepareStatusForUpdate,
  validateUpdate: validatePodStatusUpdate,
};

/** Only ephemeral containers come in this way; all else is as it was. */
function prepareEphemeralContainersForUpdate(object: KubeObject, old: KubeObject): KubeObject {
  const { resourceVersion, managedFields } = object.metadata;
  const { ephemeralContainers: _before, ...spec } = (old as Pod).spec ?? {};
  const { ephemeralContainers: containers = [] } = (object as Pod).spec ?? {};
  return {
    ...old,
    metadata: {
      ...old.metadata,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(managedFields === undefined ? {} : { managedFields }),
    },
    spec: containers.length === 0 ? spec : { ...spec, ephemeralContainers: containers },
  };
}

/** Of pods/ephemeralcontainers. */
export const ephemeralContainersStrategy: Strategy = {
  prepareForUpdate: prepareEphemeralContainersForUpdate,
  validateUpdate: validateEphemeralContainersUpdate,
};

const FINISHED = ['Failed', 'Succeeded'];

/** Seconds until a deleted pod goes: what was asked for, else what the pod needs; none where nothing runs (any more). */
export function podGracePeriodSeconds(object: KubeObject, requested: number | bigint | undefined): number | bigint {
  const { spec = {}, status = {} } = object as Pod;
  if (!spec.nodeName || FINISHED.includes(status.phase ?? '')) return 0;
  return requested ?? spec.terminationGracePeriodSeconds ?? 0;
}
