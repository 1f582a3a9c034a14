import type { KubeObject } from '../api/object';
import { refuse, type AdmissionAttributes, type AdmissionPlugin } from './plugin';

interface Named {
  readonly name?: string;
}

interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
}

interface Container {
  readonly name: string;
  readonly volumeMounts?: readonly VolumeMount[];
}

interface Volume {
  readonly name: string;
  readonly secret?: object;
  readonly projected?: { readonly sources?: readonly { readonly serviceAccountToken?: object }[] };
}

interface PodSpec {
  readonly serviceAccountName?: string;
  readonly serviceAccount?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly imagePullSecrets?: readonly Named[];
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly Volume[];
}

/** What the plugin reads and where its randomness comes from. */
export interface ServiceAccountDependencies {
  readonly getServiceAccount: (namespace: string, name: string) => Promise<KubeObject | undefined>;
  /** Five characters for the volume's name. */
  readonly randomSuffix: () => string;
}

const DEFAULT_ACCOUNT = 'default';
const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
const TOKEN_SECONDS = 3607;

function tokenVolume(name: string): object {
  return {
    name,
    projected: {
      defaultMode: 420,
      sources: [
        { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
    },
  };
}

function wantsToken(spec: PodSpec, account: KubeObject): boolean {
  const ofAccount = account.automountServiceAccountToken as boolean | undefined;
  return spec.automountServiceAccountToken ?? ofAccount ?? true;
}

/** Containers that mount something of their own at the token's path keep that. */
function mountToken(spec: PodSpec, volumeName: string): PodSpec {
  const lacks = ({ volumeMounts = [] }: Container): boolean =>
    !volumeMounts.some((mount) => mount.mountPath === MOUNT_PATH);
  const all = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  if (!all.some(lacks)) return spec;
  const mount = (container: Container): Container =>
    lacks(container)
      ? {
          ...container,
          volumeMounts: [
            ...(container.volumeMounts ?? []),
            { name: volumeName, readOnly: true, mountPath: MOUNT_PATH },
          ],
        }
      : container;
  return {
    ...spec,
    ...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(mount) }),
    ...(spec.containers === undefined ? {} : { containers: spec.containers.map(mount) }),
    volumes: [...(spec.volumes ?? []), tokenVolume(volumeName) as Volume],
  };
}

/** A mirror pod stands for a file on a node and may have nothing of the cluster's secrets. */
function checkMirrorPod(attributes: AdmissionAttributes, spec: PodSpec): void {
  if ((spec.serviceAccountName ?? '') !== '') {
    throw refuse(attributes, 'a mirror pod may not reference service accounts');
  }
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])] as readonly {
    readonly env?: readonly { readonly valueFrom?: { readonly secretKeyRef?: object } }[];
    readonly envFrom?: readonly { readonly secretRef?: object }[];
  }[];
  const usesSecret =
    (spec.volumes ?? []).some(
      ({ secret, projected }) =>
        secret !== undefined || (projected?.sources ?? []).some((source) => 'secret' in source),
    ) ||
    containers.some(
      ({ env = [], envFrom = [] }) =>
        env.some(({ valueFrom }) => valueFrom?.secretKeyRef !== undefined) ||
        envFrom.some(({ secretRef }) => secretRef !== undefined),
    );
  if (usesSecret) throw refuse(attributes, 'a mirror pod may not reference secrets');
  const usesToken = (spec.volumes ?? []).some(({ projected }) =>
    (projected?.sources ?? []).some(({ serviceAccountToken }) => serviceAccountToken !== undefined),
  );
  if (usesToken) throw refuse(attributes, 'a mirror pod may not use ServiceAccountToken volume projections');
}

/**
 * ServiceAccount: a pod runs under an account of its namespace that exists (`default` unless it names one), with a bound
 * token, the cluster's CA and its namespace mounted unless the pod or the account says otherwise, and with the account's
 * image pull secrets unless it has its own (spec, "Service-account related").
 */
export function serviceAccountAdmission({
  getServiceAccount,
  randomSuffix,
}: ServiceAccountDependencies): AdmissionPlugin {
  return {
    name: 'ServiceAccount',
    operations: ['CREATE'],
    mutate: async (attributes) => {
      const { group, resource, subresource, namespace, object } = attributes;
      if (group !== '' || resource !== 'pods' || subresource !== '') return object;
      let spec = (object.spec ?? {}) as PodSpec;
      if (object.metadata.annotations?.[MIRROR_ANNOTATION] !== undefined) {
        checkMirrorPod(attributes, spec);
        return object;
      }
      const name =
        spec.serviceAccountName === undefined || spec.serviceAccountName === ''
          ? DEFAULT_ACCOUNT
          : spec.serviceAccountName;
      const account = await getServiceAccount(namespace, name);
      if (account === undefined) {
        throw refuse(
          attributes,
          `error looking up service account ${namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`,
        );
      }
      spec = { ...spec, serviceAccountName: name, serviceAccount: name };
      if (wantsToken(spec, account)) spec = mountToken(spec, `kube-api-access-${randomSuffix()}`);
      if ((spec.imagePullSecrets ?? []).length === 0) {
        const imagePullSecrets = (account.imagePullSecrets as readonly Named[] | undefined) ?? [];
        if (imagePullSecrets.length > 0) spec = { ...spec, imagePullSecrets };
      }
      return { ...object, spec };
    },
  };
}
