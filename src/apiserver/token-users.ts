import { randomBytes } from 'node:crypto';
import type { UserInfo } from '../api/user';
import { tokenDigest } from '../authn/token-file';

/** Users who prove who they are with a token that is made for them. */
export class TokenUsers {
  readonly #byDigest = new Map<string, UserInfo>();

  /** By the digests of the tokens. */
  get users(): ReadonlyMap<string, UserInfo> {
    return this.#byDigest;
  }

  /** The new user's token. */
  add(name: string, groups: readonly string[]): string {
    const token = randomBytes(32).toString('base64url');
    this.#byDigest.set(tokenDigest(token), { name, groups });
    return token;
  }
}
