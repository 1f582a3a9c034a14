import type { PublicJwk } from '../pki/jwt';

export interface OidcKeysOptions {
  /** The issuer's URL, without a slash at its end unless the issuer has one. */
  readonly issuer: string;
  /** Fetches a JSON document. Throws with a message that says why not. */
  readonly fetchJson: (url: string) => Promise<unknown>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Fetches that may follow each other at once; after that one a second: a stranger's tokens must not burden the issuer. */
const BURST = 10;
const REFILL_MS = 1000;

/**
 * The keys that an OpenID provider publishes: found through its discovery document (OpenID Connect Discovery 1.0, 4),
 * fetched when first needed and again when a token is signed by none of them, since providers rotate their keys.
 */
export class OidcKeys {
  readonly #options: OidcKeysOptions;
  #keysUrl: string | undefined;
  #keys: readonly PublicJwk[] = [];
  #fetching: Promise<void> | undefined;
  #tokens = BURST;
  #refilledAt: number;

  constructor(options: OidcKeysOptions) {
    this.#options = options;
    this.#refilledAt = options.now();
  }

  /**
   * Whether `verifies` holds for a key with this id (any key, when there is no id). Throws when the provider cannot be
   * asked and no key is known.
   */
  async some(id: string | undefined, verifies: (key: PublicJwk) => Promise<boolean>): Promise<boolean> {
    if (await this.#isVerified(id, verifies)) return true;
    if (!this.#mayFetch()) return false;
    await this.#fetch();
    return this.#isVerified(id, verifies);
  }

  async #isVerified(id: string | undefined, verifies: (key: PublicJwk) => Promise<boolean>): Promise<boolean> {
    for (const key of this.#keys) if ((id === undefined || key.kid === id) && (await verifies(key))) return true;
    return false;
  }

  #mayFetch(): boolean {
    if (this.#fetching !== undefined) return true;
    const now = this.#options.now();
    const refill = Math.floor((now - this.#refilledAt) / REFILL_MS);
    if (refill > 0) {
      this.#tokens = Math.min(BURST, this.#tokens + refill);
      this.#refilledAt = now;
    }
    if (this.#tokens === 0) return false;
    this.#tokens--;
    return true;
  }

  #fetch(): Promise<void> {
    this.#fetching ??= this.#fetchNow().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #fetchNow(): Promise<void> {
    const { issuer, fetchJson } = this.#options;
    if (this.#keysUrl === undefined) {
      const document = (await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)) as {
        readonly issuer?: unknown;
        readonly jwks_uri?: unknown;
      } | null;
      if (document?.issuer !== issuer) {
        throw new Error(`issuer did not match the issuer returned by provider, expected ${JSON.stringify(issuer)}`);
      }
      if (typeof document.jwks_uri !== 'string') throw new Error('the provider names no jwks_uri');
      this.#keysUrl = document.jwks_uri;
    }
    const set = (await fetchJson(this.#keysUrl)) as { readonly keys?: unknown } | null;
    if (!Array.isArray(set?.keys)) throw new Error('the provider publishes no key set');
    this.#keys = set.keys.filter(isSigningKey);
  }
}

/** Issuers whose keys are kept; the provider names them, so there are few. */
const MAX_ISSUERS = 64;

/** The keys of an issuer, the same object at each call; beyond a bound the issuer asked for first is forgotten. */
export function oidcIssuers(create: (issuer: string) => OidcKeys): (issuer: string) => OidcKeys {
  const known = new Map<string, OidcKeys>();
  return (issuer) => {
    let keys = known.get(issuer);
    if (keys === undefined) {
      const [oldest] = known.keys();
      if (known.size >= MAX_ISSUERS && oldest !== undefined) known.delete(oldest);
      known.set(issuer, (keys = create(issuer)));
    }
    return keys;
  };
}

/** Keys of other uses are left out, and shared secrets, which should not be published. */
function isSigningKey(value: unknown): value is PublicJwk {
  if (typeof value !== 'object' || value === null) return false;
  const { kty, use = 'sig' } = value as PublicJwk;
  return typeof kty === 'string' && kty !== 'oct' && use === 'sig';
}
