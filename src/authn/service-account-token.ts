import type { MaybePromise } from '../api/maybe-promise';
import { dayToNote, INVALID_SINCE_LABEL } from '../api/legacy-tokens';
import type { KubeObject } from '../api/object';
import { serviceAccountUserName, parseServiceAccountUserName, type UserInfo } from '../api/user';
import { isSignedBy, parseJwt, type Jwt } from '../pki/jwt';
import type { VerificationKey } from '../pki/signing-keys';
import { commonAudiences } from './audiences';
import type { Authenticated, AuthenticationResult, TokenAuthenticator } from './credentials';
import type { ServiceAccountTokenUse } from './metrics';

export const LEGACY_ISSUER = 'kubernetes/serviceaccount';
/** Clocks of the token's maker and its reader may differ by this much. */
const LEEWAY_SECONDS = 60;

/** What a token's claims refer to; undefined: it is not there. */
export interface TokenObjects {
  readonly getServiceAccount: (namespace: string, name: string) => MaybePromise<KubeObject | undefined>;
  readonly getSecret: (namespace: string, name: string) => MaybePromise<KubeObject | undefined>;
  readonly getPod: (namespace: string, name: string) => MaybePromise<KubeObject | undefined>;
  /** Asked later: whether the object is still as it was found. Absent: nothing can tell. */
  readonly follow?: (kind: TokenObjectKind, namespace: string, name: string, found: KubeObject) => () => boolean;
}

export type TokenObjectKind = 'serviceaccounts' | 'secrets' | 'pods';

/** Who a token stands for, and the objects on which that rests. */
interface TokenUser {
  readonly user: UserInfo;
  readonly restsOn: readonly { readonly kind: TokenObjectKind; readonly object: KubeObject }[];
}

export interface ServiceAccountTokenOptions {
  /** Any of them may have signed; the same array as long as they stay the same. */
  readonly keys: () => readonly VerificationKey[];
  /** Of bound tokens; the first is that of new ones. */
  readonly issuers: readonly string[];
  /** Those of this server, for tokens that name none. */
  readonly audiences: readonly string[];
  /** `--service-account-lookup`: the secret and the account of a legacy token must still be there. */
  readonly lookup: boolean;
  readonly objects: TokenObjects;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Told of every good token. */
  readonly used?: (use: ServiceAccountTokenUse) => void;
  /** Told the day on which a token of a secret is used, where the secret does not say so yet. */
  readonly noteUse?: (secret: KubeObject, day: string) => void;
}

type Claims = Readonly<Record<string, unknown>>;

class InvalidToken extends Error {}

/** Legacy tokens out of secrets, and bound ones of TokenRequest: whatever this server's issuer signed. */
export function serviceAccountTokenAuthenticator(options: ServiceAccountTokenOptions): TokenAuthenticator {
  return (token, wanted) => {
    const jwt = parseJwt(token);
    if (jwt === undefined) return undefined;
    const { iss } = jwt.claims;
    const legacy = iss === LEGACY_ISSUER;
    if (!legacy && !options.issuers.includes(iss as string)) return undefined;
    return authenticate(jwt, token, legacy, wanted, options);
  };
}

async function isSignedByOne(jwt: Jwt, keys: readonly VerificationKey[]): Promise<boolean> {
  for (const { publicKey } of keys) if (await isSignedBy(jwt, publicKey)) return true;
  return false;
}

async function authenticate(
  jwt: Jwt,
  token: string,
  legacy: boolean,
  wanted: readonly string[],
  options: ServiceAccountTokenOptions,
): Promise<AuthenticationResult> {
  const keys = options.keys();
  if (!(await isSignedByOne(jwt, keys))) return { refused: 'error in cryptographic primitive' };
  const named = audiencesOf(jwt.claims);
  const offered = named.length === 0 ? options.audiences : named;
  const audiences = commonAudiences(offered, wanted);
  if (audiences.length === 0 && options.audiences.length > 0) {
    return {
      refused: `token audiences ${printList(offered)} is invalid for the target audiences ${printList(wanted)}`,
    };
  }
  try {
    if (legacy) {
      const found = await legacyUser(jwt.claims, token, options);
      options.used?.('legacy');
      return { user: found.user, audiences, ...currentCheck(found, options.objects) };
    }
    const found = await boundUser(jwt.claims, options);
    const annotations = staleness(jwt.claims, options);
    const current = currentCheck(found, options.objects);
    return { user: found.user, audiences, ...current, ...(annotations === undefined ? {} : { annotations }) };
  } catch (error) {
    if (error instanceof InvalidToken) return { refused: error.message };
    throw error;
  }
}

/** Account, secret and pod may go, or give way to others of their name, while the token is believed. */
function currentCheck({ restsOn }: TokenUser, { follow }: TokenObjects): Pick<Authenticated, 'isCurrent'> {
  if (follow === undefined) return {};
  const checks = restsOn.map(({ kind, object }) =>
    follow(kind, object.metadata.namespace ?? '', object.metadata.name ?? '', object),
  );
  return { isCurrent: () => checks.every((holds) => holds()) };
}

function printList(list: readonly string[]): string {
  return `[${list.map((text) => JSON.stringify(text)).join(' ')}]`;
}

function audiencesOf({ aud }: Claims): readonly string[] {
  if (typeof aud === 'string') return [aud];
  return Array.isArray(aud) ? aud.filter((one): one is string => typeof one === 'string') : [];
}

function textOf(claims: Claims | undefined, name: string): string {
  const value = claims?.[name];
  return typeof value === 'string' ? value : '';
}

function mapOf(claims: Claims | undefined, name: string): Claims | undefined {
  const value = claims?.[name];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Claims) : undefined;
}

async function legacyUser(
  claims: Claims,
  token: string,
  { lookup, objects, now, noteUse }: ServiceAccountTokenOptions,
): Promise<TokenUser> {
  const claim = (name: string): string => textOf(claims, `kubernetes.io/serviceaccount/${name}`);
  const subject = textOf(claims, 'sub');
  if (subject === '') throw new InvalidToken('sub claim is missing');
  const namespace = required(claim('namespace'), 'namespace');
  const secretName = required(claim('secret.name'), 'secretName');
  const name = required(claim('service-account.name'), 'serviceAccountName');
  const uid = required(claim('service-account.uid'), 'serviceAccountUID');
  const account = parseServiceAccountUserName(subject);
  if (account?.namespace !== namespace || account.name !== name) throw new InvalidToken('sub claim is invalid');
  const user = userOf(namespace, name, uid);
  if (!lookup) return { user, restsOn: [] };
  const secret = await objects.getSecret(namespace, secretName);
  if (secret === undefined || secret.metadata.deletionTimestamp) throw new InvalidToken('Token has been invalidated');
  const data = (secret.data ?? {}) as Readonly<Record<string, string>>;
  if (Buffer.from(data.token ?? '', 'base64').toString('utf8') !== token) {
    throw new InvalidToken("Token does not match server's copy");
  }
  const object = await checkAccount(objects, namespace, name, uid, undefined);
  const day = dayToNote(secret, now());
  // Of one that is marked, too: it shows that it is still needed.
  if (day !== undefined) noteUse?.(secret, day);
  if (secret.metadata.labels?.[INVALID_SINCE_LABEL]) {
    throw new InvalidToken(
      `the token in secret ${namespace}/${secretName} for service account ${namespace}/${name} has been marked invalid. Use tokens from ` +
        `the TokenRequest API or manually created secret-based tokens, or remove the '${INVALID_SINCE_LABEL}' label from the secret to ` +
        `temporarily allow use of this token`,
    );
  }
  return {
    user,
    restsOn: [
      { kind: 'serviceaccounts', object },
      { kind: 'secrets', object: secret },
    ],
  };
}

function required(value: string, name: string): string {
  if (value === '') throw new InvalidToken(`${name} claim is missing`);
  return value;
}

async function boundUser(claims: Claims, { objects, now }: ServiceAccountTokenOptions): Promise<TokenUser> {
  const nowSeconds = now() / 1000;
  checkTimes(claims, nowSeconds);
  const own = mapOf(claims, 'kubernetes.io');
  const account = mapOf(own, 'serviceaccount');
  const namespace = textOf(own, 'namespace');
  const name = textOf(account, 'name');
  const uid = textOf(account, 'uid');
  const cutoff = nowSeconds - LEEWAY_SECONDS;
  const object = await checkAccount(objects, namespace, name, uid, cutoff);
  const restsOn: TokenUser['restsOn'][number][] = [{ kind: 'serviceaccounts', object }];
  const secret = mapOf(own, 'secret');
  if (secret !== undefined) {
    const stored = await objects.getSecret(namespace, textOf(secret, 'name'));
    restsOn.push({ kind: 'secrets', object: checkBound('Secret', stored, textOf(secret, 'uid'), cutoff) });
  }
  const pod = mapOf(own, 'pod');
  if (pod === undefined) return { user: userOf(namespace, name, uid), restsOn };
  const podName = textOf(pod, 'name');
  const podUid = textOf(pod, 'uid');
  const storedPod = await objects.getPod(namespace, podName);
  restsOn.push({ kind: 'pods', object: checkBound('Pod', storedPod, podUid, cutoff) });
  const extra = {
    'authentication.kubernetes.io/pod-name': [podName],
    'authentication.kubernetes.io/pod-uid': [podUid],
  };
  return { user: { ...userOf(namespace, name, uid), extra }, restsOn };
}

/**
 * Tokens that admission gave to pods live for a year, so that programs which never read theirs again go on for now. The
 * `warnafter` claim says when such a token should have been exchanged; one that is used later is told to the audit log.
 */
function staleness(claims: Claims, { now, used }: ServiceAccountTokenOptions): Record<string, string> | undefined {
  const warnAfter = mapOf(claims, 'kubernetes.io')?.warnafter;
  if (typeof warnAfter !== 'number') return undefined;
  const late = Math.floor(now() / 1000) - warnAfter;
  used?.(late > 0 ? 'stale' : 'valid');
  if (late <= 0) return undefined;
  const text = `subject: ${textOf(claims, 'sub')}, seconds after warning threshold: ${late}`;
  return { 'authentication.k8s.io/stale-token': text };
}

/** A bound token always ends: one without `exp` was not made here. */
function checkTimes({ exp, nbf, iat }: Claims, nowSeconds: number): void {
  if (typeof exp !== 'number' || nowSeconds - LEEWAY_SECONDS > exp) throw new InvalidToken('Token has expired');
  for (const from of [nbf, iat]) {
    if (from === undefined) continue;
    if (typeof from !== 'number' || nowSeconds + LEEWAY_SECONDS < from) {
      throw new InvalidToken('Token could not be validated');
    }
  }
}

/** `cutoffSeconds`: what began to be deleted before then is gone; undefined: at once. */
async function checkAccount(
  { getServiceAccount }: TokenObjects,
  namespace: string,
  name: string,
  uid: string,
  cutoffSeconds: number | undefined,
): Promise<KubeObject> {
  const account = await getServiceAccount(namespace, name);
  if (account === undefined) throw new InvalidToken(`serviceaccounts ${JSON.stringify(name)} not found`);
  if (isGone(account, cutoffSeconds)) {
    throw new InvalidToken(`ServiceAccount ${namespace}/${name} has been deleted`);
  }
  if (account.metadata.uid !== uid) {
    throw new InvalidToken(`ServiceAccount UID (${account.metadata.uid ?? ''}) does not match claim (${uid})`);
  }
  return account;
}

function checkBound(kind: string, stored: KubeObject | undefined, uid: string, cutoffSeconds: number): KubeObject {
  if (stored === undefined || isGone(stored, cutoffSeconds)) throw new InvalidToken('Token has been invalidated');
  if (stored.metadata.uid !== uid) {
    throw new InvalidToken(`${kind} UID (${stored.metadata.uid ?? ''}) does not match claim (${uid})`);
  }
  return stored;
}

function isGone({ metadata: { deletionTimestamp } }: KubeObject, cutoffSeconds: number | undefined): boolean {
  if (!deletionTimestamp) return false;
  return cutoffSeconds === undefined || Date.parse(deletionTimestamp) / 1000 < cutoffSeconds;
}

function userOf(namespace: string, name: string, uid: string): UserInfo {
  return {
    name: serviceAccountUserName(namespace, name),
    uid,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
  };
}
