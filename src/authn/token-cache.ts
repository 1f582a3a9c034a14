import { createHmac, randomBytes } from 'node:crypto';
import type { AuthenticationResult, TokenAuthenticator } from './credentials';

export interface TokenCacheOptions {
  /** Milliseconds for which a found user, and a refusal, are believed. 0: not at all. */
  readonly successTtlMs: number;
  readonly failureTtlMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

interface Remembered {
  readonly result: AuthenticationResult;
  readonly expiresAt: number;
}

/** Results that are remembered; the least recently used go first. */
const MAX_REMEMBERED = 32_768;

/**
 * Remembers what `authenticate` found. Tokens are known only by a hash under a key that this process makes up, so that
 * neither memory dumps nor chosen tokens tell anything. Requests with the same new token share one question.
 */
export function cachedTokenAuthenticator(
  authenticate: TokenAuthenticator,
  { successTtlMs, failureTtlMs, now }: TokenCacheOptions,
): TokenAuthenticator {
  const key = randomBytes(32);
  const remembered = new Map<string, Remembered>();
  const pending = new Map<string, Promise<AuthenticationResult>>();

  const remember = (hash: string, result: AuthenticationResult): AuthenticationResult => {
    const ttl = result !== undefined && 'user' in result ? successTtlMs : failureTtlMs;
    if (ttl > 0) {
      if (remembered.size >= MAX_REMEMBERED) dropOldest(remembered);
      remembered.set(hash, { result, expiresAt: now() + ttl });
    }
    return result;
  };

  return (token, audiences) => {
    const hash = hashOf(key, token, audiences);
    const known = remembered.get(hash);
    if (known !== undefined) {
      remembered.delete(hash);
      if (known.expiresAt > now()) {
        remembered.set(hash, known);
        return known.result;
      }
    }
    const asked = pending.get(hash);
    if (asked !== undefined) return asked;
    const result = authenticate(token, audiences);
    if (!(result instanceof Promise)) return remember(hash, result);
    const shared = result.then((found) => remember(hash, found)).finally(() => pending.delete(hash));
    pending.set(hash, shared);
    return shared;
  };
}

function hashOf(key: Buffer, token: string, audiences: readonly string[]): string {
  const hash = createHmac('sha256', key).update(token);
  for (const audience of audiences) hash.update('\0').update(audience);
  return hash.digest('base64');
}

function dropOldest(remembered: Map<string, Remembered>): void {
  for (const oldest of remembered.keys()) {
    remembered.delete(oldest);
    return;
  }
}
