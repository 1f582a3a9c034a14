import { extend } from '../api/extend';
import type { MaybePromise } from '../api/maybe-promise';
import type { KubeObject } from '../api/object';
import { isMirrorPod, podSpec, type LocalReference, type PodSpec } from './pod';
import { projectsToken, referencesSecret } from './pod-secrets';
import { refuse, type AdmissionAttributes, type AdmissionPlugin, type ObjectAttributes } from './plugin';
import { boundTokenVolume, mountToken, secretTokenVolume } from './service-account-token';

/** What the plugin reads and where its randomness comes from. */
export interface ServiceAccountDependencies {
  /** Must see an account that was created just now. */
  readonly getServiceAccount: (namespace: string, name: string) => MaybePromise<KubeObject | undefined>;
  readonly getSecret: (namespace: string, name: string) => KubeObject | undefined;
  /** Five characters for the volume's name. */
  readonly randomSuffix: () => string;
  /** False: the token comes from one of the account's secrets (`BoundServiceAccountTokenVolume=false`). */
  readonly boundTokens: boolean;
}

const DEFAULT_ACCOUNT = 'default';
const ENFORCE_ANNOTATION = 'kubernetes.io/enforce-mountable-secrets';
const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);

function wantsToken(spec: PodSpec, account: KubeObject): boolean {
  const ofAccount = account.automountServiceAccountToken as boolean | undefined;
  return spec.automountServiceAccountToken ?? ofAccount ?? true;
}

/** A mirror pod stands for a file on a node and may have nothing of the cluster's secrets. */
function checkMirrorPod(attributes: AdmissionAttributes, spec: PodSpec): void {
  if ((spec.serviceAccountName ?? '') !== '') {
    throw refuse(attributes, 'a mirror pod may not reference service accounts');
  }
  if (referencesSecret(spec)) throw refuse(attributes, 'a mirror pod may not reference secrets');
  if (projectsToken(spec)) {
    throw refuse(attributes, 'a mirror pod may not use ServiceAccountToken volume projections');
  }
}

function names(references: unknown): ReadonlySet<string> {
  return new Set(((references ?? []) as readonly LocalReference[]).map(({ name = '' }) => name));
}

interface NamedContainers {
  readonly sort: string;
  readonly containers: PodSpec['containers'];
}

/** The first of the containers' variables that is read from a secret the account does not list. */
function forbiddenVariable(lists: readonly NamedContainers[], mountable: ReadonlySet<string>): string | undefined {
  for (const { sort, containers } of lists) {
    for (const container of containers ?? []) {
      for (const variable of container.env ?? []) {
        const secret = variable.valueFrom?.secretKeyRef;
        if (secret == null || mountable.has(secret.name ?? '')) continue;
        return `${sort} ${container.name} with envVar ${variable.name} referencing secret.secretName="${secret.name ?? ''}"`;
      }
    }
  }
  return undefined;
}

function enforcesSecrets(account: KubeObject): boolean {
  return TRUE.has(account.metadata.annotations?.[ENFORCE_ANNOTATION] ?? '');
}

function becauseOf({ metadata: { name = '' } }: KubeObject): string {
  return `is not allowed because service account ${name} does not reference that secret`;
}

/** What of a pod's secrets the account does not list, for accounts whose annotation asks for that. */
function forbiddenSecret(account: KubeObject, spec: PodSpec): string | undefined {
  if (!enforcesSecrets(account)) return undefined;
  const { name = '' } = account.metadata;
  const mountable = names(account.secrets);
  for (const { secret } of spec.volumes ?? []) {
    if (secret == null || mountable.has(secret.secretName ?? '')) continue;
    return `volume with secret.secretName="${secret.secretName ?? ''}" ${becauseOf(account)}`;
  }
  const variable = forbiddenVariable(
    [
      { sort: 'init container', containers: spec.initContainers },
      { sort: 'container', containers: spec.containers },
    ],
    mountable,
  );
  if (variable !== undefined) return `${variable} ${becauseOf(account)}`;
  const pullable = names(account.imagePullSecrets);
  const index = (spec.imagePullSecrets ?? []).findIndex((secret) => !pullable.has(secret.name ?? ''));
  if (index < 0) return undefined;
  return (
    `imagePullSecrets[${index}].name="${spec.imagePullSecrets?.[index]?.name ?? ''}" is not allowed because ` +
    `service account ${name} does not reference that imagePullSecret`
  );
}

/** The same for the containers that come to a pod later. */
function forbiddenSecretOfEphemeral(account: KubeObject, { ephemeralContainers }: PodSpec): string | undefined {
  if (!enforcesSecrets(account)) return undefined;
  const lists = [{ sort: 'ephemeral container', containers: ephemeralContainers }];
  const variable = forbiddenVariable(lists, names(account.secrets));
  return variable === undefined ? undefined : `${variable} ${becauseOf(account)}`;
}

/**
 * ServiceAccount: a pod runs under an account of its namespace that exists (`default` unless it names one), with a
 * token, the cluster's CA and its namespace mounted unless the pod or the account says otherwise, and with the account's
 * image pull secrets unless it has its own (spec, "Service-account related").
 */
export function serviceAccountAdmission(dependencies: ServiceAccountDependencies): AdmissionPlugin {
  const { getServiceAccount, getSecret, randomSuffix, boundTokens } = dependencies;

  const accountOf = async (attributes: AdmissionAttributes, name: string): Promise<KubeObject> => {
    const { namespace } = attributes;
    const account = await getServiceAccount(namespace, name);
    if (account !== undefined) return account;
    throw refuse(
      attributes,
      `error looking up service account ${namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`,
    );
  };

  const check = (
    attributes: AdmissionAttributes,
    account: KubeObject,
    spec: PodSpec,
    problemOf = forbiddenSecret,
  ): void => {
    const problem = problemOf(account, spec);
    if (problem !== undefined) throw refuse(attributes, problem);
  };

  const mutate = async (attributes: ObjectAttributes): Promise<KubeObject> => {
    const { namespace, object, operation } = attributes;
    if (operation !== 'CREATE') return object;
    let spec = podSpec(object);
    if (isMirrorPod(object)) {
      checkMirrorPod(attributes, spec);
      return object;
    }
    const name = spec.serviceAccountName || DEFAULT_ACCOUNT;
    const account = await accountOf(attributes, name);
    spec = extend(spec, { serviceAccountName: name, serviceAccount: name });
    if (wantsToken(spec, account)) {
      const volume = boundTokens
        ? boundTokenVolume(spec, randomSuffix)
        : secretTokenVolume(account, spec, (secret) => getSecret(namespace, secret), randomSuffix);
      spec = mountToken(spec, volume);
    }
    const imagePullSecrets = (account.imagePullSecrets ?? []) as readonly LocalReference[];
    if ((spec.imagePullSecrets ?? []).length === 0 && imagePullSecrets.length > 0) {
      spec = { ...spec, imagePullSecrets };
    }
    check(attributes, account, spec);
    return { ...object, spec };
  };

  return {
    name: 'ServiceAccount',
    operations: ['CREATE', 'UPDATE'],
    resources: ['pods', 'pods/ephemeralcontainers'],
    mutate,
    // Again, because mutating webhooks come after the plugin's own turn.
    validate: async (attributes) => {
      const { object, operation, subresource } = attributes;
      if (object === undefined || (operation !== 'CREATE' && subresource === '')) return;
      const spec = podSpec(object);
      if (subresource !== '') {
        const account = await accountOf(attributes, spec.serviceAccountName || DEFAULT_ACCOUNT);
        return check(attributes, account, spec, forbiddenSecretOfEphemeral);
      }
      if (isMirrorPod(object)) return checkMirrorPod(attributes, spec);
      check(attributes, await accountOf(attributes, spec.serviceAccountName ?? ''), spec);
    },
  };
}
