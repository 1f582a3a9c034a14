import type { TokenAuthenticator } from './credentials';

/** The audiences that are in both lists, in the order of the second. */
export function commonAudiences(some: readonly string[], others: readonly string[]): readonly string[] {
  return others.filter((audience) => some.includes(audience));
}

/** For tokens that name no audience: they are meant for the API server's own. Others do not get them accepted. */
export function forAudiences(own: readonly string[], authenticate: TokenAuthenticator): TokenAuthenticator {
  return (token, wanted) => {
    const audiences = commonAudiences(wanted, own);
    if (audiences.length === 0 && own.length > 0) return undefined;
    const result = authenticate(token, wanted);
    if (result instanceof Promise) {
      return result.then((found) => (found !== undefined && 'user' in found ? { ...found, audiences } : found));
    }
    return result !== undefined && 'user' in result ? { ...result, audiences } : result;
  };
}
