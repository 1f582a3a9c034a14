import { fill, mapEach } from '../../fill-later';
import type { KubeObject, ObjectMeta } from '../../object';
import { keysOf, rememberKeys, type Steps } from '../../parts';
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
  const lists = LISTS.filter((list) => spec[list]).map((list) => [list, mapEach(spec[list] ?? [], change)] as const);
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
  annotation: string | undefined,
): { readonly profile?: SeccompProfile; readonly annotation?: string } {
  if (profile !== undefined && annotation === undefined) {
    const said = annotationOfProfile(profile);
    return said === undefined ? {} : { annotation: said };
  }
  if (profile !== undefined || annotation === undefined) return {};
  const said = profileOfAnnotation(annotation);
  return said === undefined ? {} : { profile: said };
}

function mayNameProfiles({ metadata, spec = {} }: Pod): boolean {
  return (
    keysOf(metadata.annotations ?? {}).length > 0 ||
    spec.securityContext !== undefined ||
    LISTS.some((list) => (spec[list] ?? []).some(({ securityContext }) => securityContext !== undefined))
  );
}

function* addTo(metadata: { annotations?: Annotations }, added: ReadonlyMap<string, string>): Steps<void> {
  if (added.size === 0) return;
  const before = metadata.annotations ?? {};
  const names = [...keysOf(before), ...added.keys()];
  const annotations: Record<string, string> = {};
  for (const name of names) {
    annotations[name] = added.get(name) ?? (before[name] as string);
    yield;
  }
  rememberKeys(annotations, names);
  metadata.annotations = annotations;
}

function syncSeccomp(pod: Pod): Pod {
  if (!mayNameProfiles(pod)) return pod;
  const annotations = pod.metadata.annotations ?? {};
  const hasAnnotations = keysOf(annotations).length > 0;
  const added = new Map<string, string>();
  const sync = <T extends { readonly securityContext?: object }>(owner: T, key: string): T => {
    if (owner.securityContext === undefined && !hasAnnotations) return owner;
    const context = (owner.securityContext ?? {}) as { readonly seccompProfile?: SeccompProfile };
    const { profile, annotation } = matchSeccomp(context.seccompProfile, added.get(key) ?? annotations[key]);
    if (annotation !== undefined) added.set(key, annotation);
    return profile === undefined ? owner : { ...owner, securityContext: { ...context, seccompProfile: profile } };
  };
  const ofPod = sync(pod.spec ?? {}, SECCOMP_POD_ANNOTATION);
  const spec = mapContainers(ofPod, (container) =>
    sync(container, `${SECCOMP_CONTAINER_ANNOTATION_PREFIX}${container.name ?? ''}`),
  );
  const metadata: ObjectMeta & { annotations?: Annotations } = { ...pod.metadata };
  // Lists of a large pod are changed later, and this after them.
  fill(addTo(metadata, added));
  return { ...pod, metadata, spec };
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
  const status = { phase: 'Pending', ...(gated ? { conditions: [GATED] } : {}), qosClass: '' };
  fill(setQosClass(status, spec));
  return status;
}

function* setQosClass(status: { qosClass: string }, spec: PodSpec): Steps<void> {
  status.qosClass = yield* qosClassOf(spec);
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
