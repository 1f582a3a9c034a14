import type { KubeObject } from '../../api/object';

const NAME_PREFIX = 'bootstrap-token-';
const TYPE = 'bootstrap.kubernetes.io/token';
const NAMESPACE = 'kube-system';

export const TOKEN_SECRETS_PATH = `/api/v1/namespaces/${NAMESPACE}/secrets`;
/** Only those that may be tokens. */
export const TOKEN_SECRETS_QUERY = `${TOKEN_SECRETS_PATH}?fieldSelector=${encodeURIComponent(`type=${TYPE}`)}`;

export interface BootstrapToken {
  readonly id: string;
  readonly secret: string;
}

function textOf({ data }: KubeObject, key: string): string {
  return Buffer.from(((data ?? {}) as Readonly<Record<string, string>>)[key] ?? '', 'base64').toString('utf8');
}

/**
 * When the token ends, in milliseconds since the epoch; never for one without an end. A time that cannot be read is taken
 * as passed.
 */
export function expirationOf(secret: KubeObject): number {
  const text = textOf(secret, 'expiration');
  if (text === '') return Infinity;
  const time = Date.parse(text);
  return Number.isNaN(time) ? -Infinity : time;
}

/** The token, if it is whole, holds now and is meant for signing (spec, "Bootstrap-token secret"). */
export function signingToken(secret: KubeObject, now: number): BootstrapToken | undefined {
  const id = textOf(secret, 'token-id');
  const secretPart = textOf(secret, 'token-secret');
  const isMeant =
    secret.type === TYPE &&
    id !== '' &&
    secret.metadata.name === NAME_PREFIX + id &&
    secretPart !== '' &&
    textOf(secret, 'usage-bootstrap-signing') === 'true';
  return isMeant && !secret.metadata.deletionTimestamp && expirationOf(secret) > now
    ? { id, secret: secretPart }
    : undefined;
}
