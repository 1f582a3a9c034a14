import { randomInt } from 'node:crypto';
import { isNameSuffix, nameSuffix } from '../api/name-suffix';
import type { KubeObject } from '../api/object';
import { serviceAccountUserName } from '../api/user';
import { objectKey } from '../client/informer';
import { signJwt } from '../pki/jwt';
import type { SigningKey } from '../pki/signing-keys';
import {
  isStatus,
  startController,
  type Controller,
  type ControllerParts,
  type ControllerRun,
  type Reconcile,
} from './controller';

export interface TokenControllerOptions {
  readonly signingKey: SigningKey;
  /** PEM: goes into each token secret as `ca.crt`. */
  readonly rootCertificates: string;
}

const SECRET_TYPE = 'kubernetes.io/service-account-token';
const OF_TYPE = `fieldSelector=${encodeURIComponent(`type=${SECRET_TYPE}`)}`;
const NAME_ANNOTATION = 'kubernetes.io/service-account.name';
const UID_ANNOTATION = 'kubernetes.io/service-account.uid';

type Data = Readonly<Record<string, string>>;

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

function accountKeyOf({ metadata: { namespace = '', annotations } }: KubeObject): string {
  return `${namespace}/${annotations?.[NAME_ANNOTATION] ?? ''}`;
}

/** A name that was made here for a secret of the account. */
function isGenerated(name: string, { metadata: { name: account = '' } }: KubeObject): boolean {
  return name.startsWith(`${account}-token-`) && isNameSuffix(name.slice(`${account}-token-`.length));
}

/** Of the account that the secret is for; empty where only its name is known yet. */
function uidOf({ metadata: { annotations } }: KubeObject): string {
  return annotations?.[UID_ANNOTATION] ?? '';
}

/** The secrets that are for the account, and those of another of its name. */
function byOwner(secrets: readonly KubeObject[], { metadata: { uid } }: KubeObject) {
  const isForeign = (secret: KubeObject): boolean => uidOf(secret) !== '' && uidOf(secret) !== uid;
  return { own: secrets.filter((secret) => !isForeign(secret)), foreign: secrets.filter(isForeign) };
}

function referencesOf(account: KubeObject): readonly { readonly name?: string }[] {
  return (account.secrets as readonly { readonly name?: string }[] | undefined) ?? [];
}

/**
 * Keeps the token secrets of service accounts (spec, "Service account-related"): every account has one and names it,
 * a secret that asks for a token by its annotation is filled in, and what belongs to an account that is gone is deleted.
 */
export function startServiceAccountTokenController(
  parts: ControllerParts,
  options: TokenControllerOptions,
): Controller {
  return startController('serviceaccount-token', parts, (run) => keepTokenSecrets(run, options));
}

function keepTokenSecrets(
  { client, signal, queue, follow }: ControllerRun,
  options: TokenControllerOptions,
): Reconcile {
  const accounts = new Map<string, KubeObject>();
  const secrets = new Map<string, KubeObject>();
  /** The keys of the secrets of each account. */
  const keysByAccount = new Map<string, Set<string>>();

  const secretsPath = (namespace: string): string => `/api/v1/namespaces/${namespace}/secrets?${OF_TYPE}`;
  const secretPath = (namespace: string, name: string): string => `/api/v1/namespaces/${namespace}/secrets/${name}`;
  const accountPath = (key: string): string => {
    const [namespace = '', name = ''] = key.split('/');
    return `/api/v1/namespaces/${namespace}/serviceaccounts/${name}`;
  };
  const secretsOf = (key: string): readonly KubeObject[] =>
    [...(keysByAccount.get(key) ?? [])].flatMap((secretKey) => secrets.get(secretKey) ?? []);
  const putSecret = (secret: KubeObject): void => {
    const key = objectKey(secret);
    dropSecret(key);
    secrets.set(key, secret);
    const account = accountKeyOf(secret);
    keysByAccount.set(account, (keysByAccount.get(account) ?? new Set()).add(key));
  };
  const dropSecret = (key: string): void => {
    const known = secrets.get(key);
    if (known === undefined) return;
    secrets.delete(key);
    const account = accountKeyOf(known);
    const keys = keysByAccount.get(account);
    keys?.delete(key);
    if (keys?.size === 0) keysByAccount.delete(account);
  };

  const getAccount = async (key: string): Promise<KubeObject | undefined> => {
    try {
      return await client.get(accountPath(key), signal);
    } catch (error) {
      if (isStatus(error, 404)) return undefined;
      throw error;
    }
  };

  const deleteSecret = async ({ metadata: { namespace = '', name = '', uid } }: KubeObject): Promise<void> => {
    try {
      await client.delete(secretPath(namespace, name), { preconditions: { uid } }, signal);
    } catch (error) {
      if (!isStatus(error, 404, 409)) throw error;
    }
  };

  const dataFor = async (account: KubeObject, secretName: string): Promise<Data> => {
    const { namespace = '', name = '', uid = '' } = account.metadata;
    const prefix = 'kubernetes.io/serviceaccount';
    const token = await signJwt(
      {
        iss: 'kubernetes/serviceaccount',
        [`${prefix}/namespace`]: namespace,
        [`${prefix}/secret.name`]: secretName,
        [`${prefix}/service-account.name`]: name,
        [`${prefix}/service-account.uid`]: uid,
        sub: serviceAccountUserName(namespace, name),
      },
      options.signingKey.privateKey,
      options.signingKey.id,
    );
    return { token: base64(token), 'ca.crt': base64(options.rootCertificates), namespace: base64(namespace) };
  };

  /** The token secrets of the account as the server has them. */
  const namesOfSecrets = async (account: KubeObject): Promise<ReadonlySet<string>> => {
    const { namespace = '', name = '', uid = '' } = account.metadata;
    const names = new Set<string>();
    for await (const { items } of client.pages(secretsPath(namespace), signal, 'metadata')) {
      for (const { metadata } of items) {
        const { annotations, deletionTimestamp } = metadata;
        const isOwn = annotations?.[NAME_ANNOTATION] === name && annotations[UID_ANNOTATION] === uid;
        if (isOwn && !deletionTimestamp) names.add(metadata.name ?? '');
      }
    }
    return names;
  };

  /** The account with a reference to the secret, and without those to secrets of ours that are gone. */
  const withReference = (account: KubeObject, secretName: string, there: ReadonlySet<string>): KubeObject => {
    const kept = referencesOf(account).filter(({ name = '' }) => there.has(name) || !isGenerated(name, account));
    return { ...account, secrets: [...kept, { name: secretName }] };
  };

  const createSecret = async (account: KubeObject, there: ReadonlySet<string>): Promise<void> => {
    const { namespace = '', name = '', uid = '' } = account.metadata;
    const secretName = `${name}-token-${nameSuffix(randomInt)}`;
    let secret: KubeObject;
    try {
      secret = await client.create(
        `/api/v1/namespaces/${namespace}/secrets`,
        {
          metadata: { name: secretName, annotations: { [NAME_ANNOTATION]: name, [UID_ANNOTATION]: uid } },
          type: SECRET_TYPE,
          data: await dataFor(account, secretName),
        },
        signal,
      );
    } catch (error) {
      // The namespace is gone, or going.
      if (isStatus(error, 403, 404)) return;
      throw error;
    }
    try {
      await client.update(accountPath(objectKey(account)), withReference(account, secretName, there), signal);
    } catch (error) {
      // The account has changed meanwhile: the next try reads it again.
      await deleteSecret(secret);
      throw error;
    }
  };

  const syncAccount = async (key: string): Promise<void> => {
    const known = accounts.get(key);
    if (known === undefined) {
      if ((await getAccount(key)) !== undefined) return;
      for (const secret of secretsOf(key)) await deleteSecret(secret);
      return;
    }
    const account = await getAccount(key);
    if (account === undefined) return;
    const { own, foreign } = byOwner(secretsOf(key), account);
    // Of an account that had the name before.
    for (const secret of foreign) await deleteSecret(secret);
    if (account.metadata.deletionTimestamp) return;
    const names = new Set(own.map(({ metadata: { name } }) => name));
    if (referencesOf(account).some(({ name }) => names.has(name))) return;
    // Memory may be behind, and the process before may have been killed in the midst of it.
    const there = await namesOfSecrets(account);
    if (referencesOf(account).some(({ name = '' }) => there.has(name))) return;
    const forgotten = [...there].find((name) => isGenerated(name, account));
    if (forgotten === undefined) return createSecret(account, there);
    await client.update(accountPath(key), withReference(account, forgotten, there), signal);
  };

  const syncSecret = async (key: string): Promise<void> => {
    const secret = secrets.get(key);
    if (secret === undefined) return;
    const uid = uidOf(secret);
    const isOf = (account: KubeObject | undefined): account is KubeObject =>
      account !== undefined && (uid === '' || uid === account.metadata.uid);
    const known = accounts.get(accountKeyOf(secret));
    // Memory may know the one before.
    const account = isOf(known) ? known : await getAccount(accountKeyOf(secret));
    if (!isOf(account)) return deleteSecret(secret);
    const data = (secret.data ?? {}) as Data;
    const hasAuthority = options.rootCertificates === '' || data['ca.crt'] === base64(options.rootCertificates);
    if (data.token && data.namespace && hasAuthority && uid !== '') return;
    const { namespace = '', name = '', annotations } = secret.metadata;
    const filled = { ...(await dataFor(account, name)), ...(data.token ? { token: data.token } : {}) };
    await client.update(
      secretPath(namespace, name),
      {
        ...secret,
        metadata: { ...secret.metadata, annotations: { ...annotations, [UID_ANNOTATION]: account.metadata.uid ?? '' } },
        data: { ...data, ...filled },
      },
      signal,
    );
  };

  /** An account must not name what is not there. */
  const forgetSecret = async (namespace: string, name: string, accountKey: string): Promise<void> => {
    const account = await getAccount(accountKey);
    if (account === undefined || !referencesOf(account).some((reference) => reference.name === name)) return;
    const rest = referencesOf(account).filter((reference) => reference.name !== name);
    await client.update(
      `/api/v1/namespaces/${namespace}/serviceaccounts/${account.metadata.name ?? ''}`,
      { ...account, secrets: rest },
      signal,
    );
  };

  const enqueue = (kind: string, key: string): void => queue.add(`${kind} ${key.replace('/', ' ')}`);
  follow({
    path: `/api/v1/secrets?${OF_TYPE}`,
    changed: (secret) => {
      putSecret(secret);
      enqueue('secret', objectKey(secret));
    },
    deleted: (secret) => {
      dropSecret(objectKey(secret));
      queue.add(`forget ${objectKey(secret).replace('/', ' ')} ${accountKeyOf(secret)}`);
    },
  });
  follow({
    path: '/api/v1/serviceaccounts',
    changed: (account) => {
      accounts.set(objectKey(account), account);
      enqueue('account', objectKey(account));
    },
    deleted: (account) => {
      accounts.delete(objectKey(account));
      enqueue('account', objectKey(account));
    },
  });
  return async (task) => {
    const [kind = '', namespace = '', name = '', account = ''] = task.split(' ');
    if (kind === 'account') return syncAccount(`${namespace}/${name}`);
    if (kind === 'secret') return syncSecret(`${namespace}/${name}`);
    await forgetSecret(namespace, name, account);
    enqueue('account', account);
  };
}
