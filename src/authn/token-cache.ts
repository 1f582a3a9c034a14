import { createHmac, randomBytes } from 'node:crypto';
import { TtlCache } from '../api/time/ttl-cache';
import type { AuthenticationResult, TokenAuthenticator } from './credentials';

export interface TokenCacheOptions {
  /** Milliseconds for which a found user, and a refusal, are believed. 0: not at all. */
  readonly successTtlMs: number;
  readonly failureTtlMs: number;
  /** Milliseconds, never going back: nothing is believed for longer because the time of day was put right. */
  readonly clock: () => number;
  /** Told of every look-up, and of every question that it led to. */
  readonly asked?: (status: 'hit' | 'miss') => void;
  readonly fetched?: (status: 'ok' | 'error') => void;
}

/** The hash of the token that a connection showed last. */
interface LastHash {
  readonly token: string;
  readonly audiences: readonly string[];
  readonly hash: string;
}

/** Results that are remembered; the least recently used go first. */
const MAX_REMEMBERED = 32_768;

/**
 * Remembers what `authenticate` found. Tokens are known only by a hash under a key that this process makes up, so that
 * chosen tokens tell nothing; only an open connection remembers the token that it showed last. Requests with the same
 * new token share one question. A result that knows that it is no longer current is asked for anew.
 */
export function cachedTokenAuthenticator(
  authenticate: TokenAuthenticator,
  { successTtlMs, failureTtlMs, clock, asked, fetched }: TokenCacheOptions,
): TokenAuthenticator {
  const key = randomBytes(32);
  const remembered = new TtlCache<{ readonly result: AuthenticationResult }>(MAX_REMEMBERED, clock);
  const pending = new Map<string, Promise<AuthenticationResult>>();
  const lastHashes = new WeakMap<object, LastHash>();

  /** Clients send the same token with each request of a connection: comparing it is quicker than hashing it. */
  const hashFor = (token: string, audiences: readonly string[], connection: object | undefined): string => {
    if (connection === undefined) return hashOf(key, token, audiences);
    const last = lastHashes.get(connection);
    if (last !== undefined && last.audiences === audiences && last.token === token) return last.hash;
    const hash = hashOf(key, token, audiences);
    lastHashes.set(connection, { token, audiences, hash });
    return hash;
  };

  const remember = (hash: string, result: AuthenticationResult): AuthenticationResult => {
    const ttl = result !== undefined && 'user' in result ? successTtlMs : failureTtlMs;
    remembered.set(hash, { result }, ttl);
    return result;
  };

  return (token, audiences, connection) => {
    const hash = hashFor(token, audiences, connection);
    const known = remembered.get(hash);
    if (known !== undefined && isCurrent(known.result)) {
      asked?.('hit');
      return known.result;
    }
    asked?.('miss');
    const underWay = pending.get(hash);
    if (underWay !== undefined) return underWay;
    const result = authenticate(token, audiences);
    if (!(result instanceof Promise)) {
      fetched?.('ok');
      return remember(hash, result);
    }
    const failed = (error: unknown): never => {
      fetched?.('error');
      throw error;
    };
    const found = (response: AuthenticationResult): AuthenticationResult => {
      fetched?.('ok');
      return remember(hash, response);
    };
    const shared = result.then(found, failed).finally(() => pending.delete(hash));
    pending.set(hash, shared);
    return shared;
  };
}

function isCurrent(result: AuthenticationResult): boolean {
  return result === undefined || !('isCurrent' in result) || result.isCurrent?.() !== false;
}

function hashOf(key: Buffer, token: string, audiences: readonly string[]): string {
  const hash = createHmac('sha256', key).update(token);
  for (const audience of audiences) hash.update('\0').update(audience);
  return hash.digest('base64');
}
