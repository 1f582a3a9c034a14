/** Who asks: what authentication found, after impersonation. */
export interface UserInfo {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export const ANONYMOUS_USER = 'system:anonymous';
export const AUTHENTICATED_GROUP = 'system:authenticated';
export const UNAUTHENTICATED_GROUP = 'system:unauthenticated';
/** Its members skip authorization in every mode. */
export const MASTERS_GROUP = 'system:masters';

const SERVICE_ACCOUNT_PREFIX = 'system:serviceaccount:';

/** The user name under which a service account acts. */
export function serviceAccountUserName(namespace: string, name: string): string {
  return `${SERVICE_ACCOUNT_PREFIX}${namespace}:${name}`;
}

/** The inverse of {@link serviceAccountUserName}; undefined for any other user. */
export function parseServiceAccountUserName(
  userName: string,
): { readonly namespace: string; readonly name: string } | undefined {
  if (!userName.startsWith(SERVICE_ACCOUNT_PREFIX)) return undefined;
  const parts = userName.slice(SERVICE_ACCOUNT_PREFIX.length).split(':');
  const [namespace, name] = parts;
  return parts.length === 2 && namespace && name ? { namespace, name } : undefined;
}
