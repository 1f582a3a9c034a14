import { StatusError } from '../api/errors/status-error';
import type { KubeObject } from '../api/object';
import { allContainers, type Container, type LocalReference, type PodSpec, type Volume } from './pod';

const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const BOUND_PREFIX = 'kube-api-access-';
/** An hour and seven seconds: that it is no round number tells tokens of this plugin from others. */
const TOKEN_SECONDS = 3607;
const FILE_MODE = 0o644;
const TOKEN_SECRET_TYPE = 'kubernetes.io/service-account-token';

/** A volume with the account's credentials: the pod's own, or one to be added. */
export interface TokenVolume {
  readonly name: string;
  /** Undefined: the pod has it already. */
  readonly add: Volume | undefined;
}

/** A token that lives and dies with the pod, the cluster's CA and the pod's namespace (spec, "Bound token volume"). */
export function boundTokenVolume({ volumes = [] }: PodSpec, randomSuffix: () => string): TokenVolume {
  const present = volumes.find(({ name }) => name.startsWith(BOUND_PREFIX));
  if (present !== undefined) return { name: present.name, add: undefined };
  const name = BOUND_PREFIX + randomSuffix();
  const sources = [
    { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    {
      downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] },
    },
  ];
  return { name, add: { name, projected: { sources, defaultMode: FILE_MODE } } };
}

/**
 * The volume of the first of the account's secrets that holds a token of it: what 1.20 mounts. Throws 500 ServerTimeout
 * when there is none yet: the token controller makes one shortly after the account.
 */
export function secretTokenVolume(
  account: KubeObject,
  { volumes = [] }: PodSpec,
  getSecret: (name: string) => KubeObject | undefined,
  randomSuffix: () => string,
): TokenVolume {
  const secretName = ((account.secrets ?? []) as readonly LocalReference[])
    .map(({ name = '' }) => name)
    .find((name) => isTokenOf(getSecret(name), account));
  if (secretName === undefined) throw noToken(account.metadata.name ?? '');
  const present = volumes.find(({ secret }) => secret?.secretName === secretName);
  if (present !== undefined) return { name: present.name, add: undefined };
  // Dots are valid in a secret's name, not in a volume's.
  const plain = secretName.replaceAll('.', '-');
  const name = volumes.some((volume) => volume.name === plain) ? `${secretName}-${randomSuffix()}` : plain;
  return { name, add: { name, secret: { secretName, defaultMode: FILE_MODE } } };
}

function isTokenOf(secret: KubeObject | undefined, account: KubeObject): boolean {
  const annotations = secret?.metadata.annotations;
  return (
    secret?.type === TOKEN_SECRET_TYPE &&
    annotations?.['kubernetes.io/service-account.name'] === account.metadata.name &&
    annotations?.['kubernetes.io/service-account.uid'] === account.metadata.uid
  );
}

function noToken(account: string): StatusError {
  return new StatusError(
    500,
    'ServerTimeout',
    `No API token found for service account ${JSON.stringify(account)}, retry after the token is automatically ` +
      'created and added to the service account',
    { name: 'create pod', kind: 'serviceaccounts', retryAfterSeconds: 1 },
  );
}

/** Containers that mount something of their own at the token's path keep that. */
export function mountToken(spec: PodSpec, { name, add }: TokenVolume): PodSpec {
  const lacks = ({ volumeMounts = [] }: Container): boolean =>
    !volumeMounts.some(({ mountPath }) => mountPath === MOUNT_PATH);
  if (!allContainers(spec).some(lacks)) return spec;
  const mount = (container: Container): Container =>
    lacks(container)
      ? {
          ...container,
          volumeMounts: [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath: MOUNT_PATH }],
        }
      : container;
  const { initContainers, containers } = spec;
  return {
    ...spec,
    ...(initContainers === undefined ? {} : { initContainers: initContainers.map(mount) }),
    ...(containers == null ? {} : { containers: containers.map(mount) }),
    ...(add === undefined ? {} : { volumes: [...(spec.volumes ?? []), add] }),
  };
}
