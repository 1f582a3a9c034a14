import type { KubeObject } from '../api/object';

/** The parts of a pod that admission looks at. */
export interface ResourceRequirements {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
}

export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
}

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly imagePullPolicy?: string;
  readonly resources?: ResourceRequirements;
  readonly volumeMounts?: readonly VolumeMount[];
  readonly env?: readonly {
    readonly name: string;
    readonly valueFrom?: { readonly secretKeyRef?: LocalReference; readonly configMapKeyRef?: LocalReference };
  }[];
  readonly envFrom?: readonly { readonly secretRef?: LocalReference; readonly configMapRef?: LocalReference }[];
}

export interface LocalReference {
  readonly name?: string;
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

export interface ProjectedSource {
  readonly secret?: LocalReference;
  readonly configMap?: LocalReference;
  readonly serviceAccountToken?: object;
}

/** A volume: its name, and one source under the name of its type. */
export interface Volume {
  readonly name: string;
  readonly secret?: { readonly secretName?: string; readonly defaultMode?: number };
  readonly configMap?: LocalReference;
  readonly persistentVolumeClaim?: object;
  readonly projected?: { readonly sources?: readonly ProjectedSource[]; readonly defaultMode?: number };
}

/** `containers` is null where a client has sent none: validation, which comes later, refuses that. */
export interface PodSpec {
  readonly nodeName?: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly serviceAccountName?: string;
  readonly serviceAccount?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly imagePullSecrets?: readonly LocalReference[];
  readonly containers?: readonly Container[] | null;
  readonly initContainers?: readonly Container[];
  readonly ephemeralContainers?: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly tolerations?: readonly Toleration[];
  readonly runtimeClassName?: string;
  readonly overhead?: Readonly<Record<string, string>>;
}

export const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';

export function podSpec(pod: KubeObject): PodSpec {
  return pod.spec ?? {};
}

export function withSpec(pod: KubeObject, changes: Partial<PodSpec>): KubeObject {
  return { ...pod, spec: { ...podSpec(pod), ...changes } };
}

/** Init containers first, as they run. */
export function allContainers({ initContainers, containers, ephemeralContainers }: PodSpec): readonly Container[] {
  return [...(initContainers ?? []), ...(containers ?? []), ...(ephemeralContainers ?? [])];
}

/** The containers, each changed, where there are any of that sort. */
export function mapContainers(spec: PodSpec, change: (container: Container) => Container): Partial<PodSpec> {
  const { initContainers, containers, ephemeralContainers } = spec;
  return {
    ...(initContainers == null ? {} : { initContainers: initContainers.map(change) }),
    ...(containers == null ? {} : { containers: containers.map(change) }),
    ...(ephemeralContainers == null ? {} : { ephemeralContainers: ephemeralContainers.map(change) }),
  };
}

export function isMirrorPod(pod: KubeObject): boolean {
  return pod.metadata.annotations?.[MIRROR_ANNOTATION] !== undefined;
}
