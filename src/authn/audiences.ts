import type { TokenAuthenticator } from './credentials';

/** The audiences of `offered` that are wanted, in the order in which they are wanted. */
export function commonAudiences(offered: readonly string[], wanted: readonly string[]): readonly string[] {
  return wanted.filter((audience) => offered.includes(audience));
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
