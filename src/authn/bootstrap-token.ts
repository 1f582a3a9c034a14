import { timingSafeEqual } from 'node:crypto';
import type { MaybePromise } from '../api/maybe-promise';
import type { KubeObject } from '../api/object';
import type { TokenAuthenticator } from './credentials';

/** `<id>.<secret>` (spec, "Bootstrap-token secret"). */
const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const EXTRA_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;
const SECRET_TYPE = 'bootstrap.kubernetes.io/token';

export interface BootstrapTokenOptions {
  /** A secret of kube-system. */
  readonly getSecret: (name: string) => MaybePromise<KubeObject | undefined>;
  /** Asked later: whether the secret is still as it was found. Absent: nothing can tell. */
  readonly follow?: (name: string, found: KubeObject) => () => boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * `--enable-bootstrap-token-auth`: the token's secret must be there, of the right type, meant for authentication and not
 * expired. Whatever is wrong with it, the token is simply not known.
 */
export function bootstrapTokenAuthenticator({ getSecret, follow, now }: BootstrapTokenOptions): TokenAuthenticator {
  const authenticate = async (id: string, secretPart: string) => {
    const secretName = `bootstrap-token-${id}`;
    const secret = await getSecret(secretName);
    if (secret === undefined || secret.type !== SECRET_TYPE || secret.metadata.deletionTimestamp) return undefined;
    const data = (secret.data ?? {}) as Readonly<Record<string, string>>;
    const text = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString('utf8');
    if (!sameText(text('token-secret'), secretPart) || text('token-id') !== id) return undefined;
    if (text('usage-bootstrap-authentication') !== 'true') return undefined;
    const expiration = text('expiration');
    // A date that cannot be read is taken as passed: NaN is not later than anything.
    if (expiration !== '' && !(Date.parse(expiration) > now())) return undefined;
    const extra = text('auth-extra-groups');
    const extraGroups = extra === '' ? [] : extra.split(',');
    if (!extraGroups.every((group) => EXTRA_GROUP.test(group))) return undefined;
    const groups = [...new Set(['system:bootstrappers', ...extraGroups])].sort();
    const user = { name: `system:bootstrap:${id}`, groups };
    return { user, ...(follow && { isCurrent: follow(secretName, secret) }) };
  };
  return (token) => {
    const match = TOKEN.exec(token);
    return match === null ? undefined : authenticate(match[1] ?? '', match[2] ?? '');
  };
}

function sameText(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
