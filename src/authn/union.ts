import { unauthorized } from '../api/errors/status-error';
import { ANONYMOUS_USER, AUTHENTICATED_GROUP, UNAUTHENTICATED_GROUP, type UserInfo } from '../api/user';
import type { Authenticator, Credentials } from './credentials';

/**
 * Asks the authenticators in order; the first that knows the user wins and the user joins system:authenticated. When
 * none does: credentials that were sent but not recognised are refused with 401 even if anonymous requests are allowed,
 * and a request without credentials is anonymous, or 401 (spec, "Authentication" 4).
 */
export function authenticateUnion(
  authenticators: readonly Authenticator[],
  options: { readonly allowAnonymous: boolean },
): (credentials: Credentials) => Promise<UserInfo> {
  return async (credentials) => {
    for (const authenticate of authenticators) {
      const user = await authenticate(credentials);
      if (user !== undefined) {
        return user.groups.includes(AUTHENTICATED_GROUP)
          ? user
          : { ...user, groups: [...user.groups, AUTHENTICATED_GROUP] };
      }
    }
    const refused = credentials.bearerToken !== undefined || credentials.clientCertificate?.trusted === false;
    if (refused || !options.allowAnonymous) throw unauthorized();
    return { name: ANONYMOUS_USER, groups: [UNAUTHENTICATED_GROUP] };
  };
}
