import { unauthorized } from '../api/errors/status-error';
import { whenKnown, type MaybePromise } from '../api/maybe-promise';
import { ANONYMOUS_USER, AUTHENTICATED_GROUP, UNAUTHENTICATED_GROUP, type UserInfo } from '../api/user';
import type { Annotate, Authenticated, Credentials, RequestAuthenticator, TokenAuthenticator } from './credentials';

export interface RequestAuthentication {
  /** In order; the first that knows the user wins. */
  readonly authenticators: readonly RequestAuthenticator[];
  /** Asked last. */
  readonly authenticateToken: TokenAuthenticator;
  /** The audiences of this server. */
  readonly audiences: readonly string[];
  readonly allowAnonymous: boolean;
}

const ANONYMOUS: UserInfo = { name: ANONYMOUS_USER, groups: [UNAUTHENTICATED_GROUP] };

/** Finds out who asks. Throws, or rejects with, a 401. */
export type AuthenticateRequest = (credentials: Credentials, annotate?: Annotate) => MaybePromise<UserInfo>;

/**
 * Finds out who asks: by the authenticators in order, then by the token; the user joins system:authenticated. When
 * none knows: credentials that were refused, and a token that none accepts, are a 401 even if anonymous requests are
 * allowed; a request without credentials is anonymous, or 401 (spec, "Authentication" 4).
 */
export function authenticateRequest({
  authenticators,
  authenticateToken,
  audiences,
  allowAnonymous,
}: RequestAuthentication): AuthenticateRequest {
  const byToken: RequestAuthenticator = ({ bearerToken, connection }) =>
    bearerToken === undefined ? undefined : authenticateToken(bearerToken, audiences, connection);
  const ways = [...authenticators, byToken];

  const askFrom = (
    index: number,
    credentials: Credentials,
    annotate: Annotate | undefined,
    refused: boolean,
  ): MaybePromise<UserInfo> => {
    const way = ways[index];
    if (way === undefined) {
      if (refused || !allowAnonymous) throw unauthorized();
      return ANONYMOUS;
    }
    return whenKnown(way(credentials), (result) => {
      if (result === undefined || 'refused' in result) {
        return askFrom(index + 1, credentials, annotate, refused || result !== undefined);
      }
      if (result.annotations !== undefined) annotateAll(result.annotations, annotate);
      return withAuthenticatedGroup(result.user);
    });
  };
  return (credentials, annotate) => askFrom(0, credentials, annotate, false);
}

function annotateAll(annotations: Readonly<Record<string, string>>, annotate: Annotate | undefined): void {
  if (annotate === undefined) return;
  for (const [key, value] of Object.entries(annotations)) annotate(key, value);
}

const joined = new WeakMap<UserInfo, UserInfo>();

/** No user is in both groups, and the anonymous user in neither but its own. The same user gives the same object. */
export function withAuthenticatedGroup(user: UserInfo): UserInfo {
  const { name, groups } = user;
  if (name === ANONYMOUS_USER || groups.includes(AUTHENTICATED_GROUP) || groups.includes(UNAUTHENTICATED_GROUP)) {
    return user;
  }
  let withGroup = joined.get(user);
  if (withGroup === undefined) {
    withGroup = { ...user, groups: [...groups, AUTHENTICATED_GROUP] };
    joined.set(user, withGroup);
  }
  return withGroup;
}

/**
 * The token authenticators in order: the first that knows the user wins. When none does, what those said that refused
 * the token, each once; `invalid bearer token` stands before them, and alone when none said a thing.
 */
export function authenticateTokenUnion(authenticators: readonly TokenAuthenticator[]): TokenAuthenticator {
  return (token, audiences) => tryFrom(authenticators, 0, token, audiences, []);
}

function tryFrom(
  authenticators: readonly TokenAuthenticator[],
  start: number,
  token: string,
  audiences: readonly string[],
  refusals: readonly string[],
): MaybePromise<Authenticated | { readonly refused: string }> {
  let said = refusals;
  for (let index = start; index < authenticators.length; index++) {
    const result = authenticators[index]?.(token, audiences);
    if (result instanceof Promise) {
      return result.then((found) => {
        if (found !== undefined && 'user' in found) return found;
        return tryFrom(
          authenticators,
          index + 1,
          token,
          audiences,
          found === undefined ? said : [...said, found.refused],
        );
      });
    }
    if (result === undefined) continue;
    if ('user' in result) return result;
    said = [...said, result.refused];
  }
  const distinct = [...new Set(['invalid bearer token', ...said])];
  return { refused: distinct.length === 1 ? 'invalid bearer token' : `[${distinct.join(', ')}]` };
}
