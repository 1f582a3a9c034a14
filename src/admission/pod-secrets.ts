import { allContainers, type PodSpec } from './pod';

/** Volume types that name a secret, and where. */
const VOLUME_SECRETS: readonly (readonly [source: string, field: string])[] = [
  ['cephfs', 'secretRef'],
  ['cinder', 'secretRef'],
  ['flexVolume', 'secretRef'],
  ['rbd', 'secretRef'],
  ['scaleIO', 'secretRef'],
  ['iscsi', 'secretRef'],
  ['storageos', 'secretRef'],
  ['csi', 'nodePublishSecretRef'],
];

/** Whether a pod refers to any secret: to pull images, in a container's environment, or in a volume. */
export function referencesSecret(spec: PodSpec): boolean {
  return (
    (spec.imagePullSecrets ?? []).length > 0 ||
    allContainers(spec).some(
      ({ env = [], envFrom = [] }) =>
        env.some(({ valueFrom }) => valueFrom?.secretKeyRef != null) ||
        envFrom.some(({ secretRef }) => secretRef != null),
    ) ||
    (spec.volumes ?? []).some(
      (volume) =>
        volume.secret != null ||
        'azureFile' in volume ||
        (volume.projected?.sources ?? []).some(({ secret }) => secret != null) ||
        VOLUME_SECRETS.some(([source, field]) => {
          const found = (volume as unknown as Record<string, Record<string, unknown> | undefined>)[source];
          return found?.[field] != null;
        }),
    )
  );
}

/** A pod's configuration from ConfigMaps, in any place. */
export function referencesConfigMap(spec: PodSpec): boolean {
  return (
    allContainers(spec).some(
      ({ env = [], envFrom = [] }) =>
        env.some(({ valueFrom }) => valueFrom?.configMapKeyRef != null) ||
        envFrom.some(({ configMapRef }) => configMapRef != null),
    ) ||
    (spec.volumes ?? []).some(
      ({ configMap, projected }) =>
        configMap != null || (projected?.sources ?? []).some((source) => source.configMap != null),
    )
  );
}

export function projectsToken({ volumes = [] }: PodSpec): boolean {
  return volumes.some(({ projected }) =>
    (projected?.sources ?? []).some(({ serviceAccountToken }) => serviceAccountToken != null),
  );
}
