import { createHash } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import type { UserInfo } from '../api/user';
import type { TokenAuthenticator } from './credentials';

function fingerprint(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}

/**
 * `--token-auth-file`: CSV lines of token, user name, user uid and, optionally, a quoted comma-separated list of groups.
 * The tokens themselves are not kept, only their digests. Throws when a line has fewer than three columns.
 */
export function parseTokenFile(text: string): ReadonlyMap<string, UserInfo> {
  const lines = parse(text, { relaxColumnCount: true, skipEmptyLines: true, trim: true, comment: '#' });
  const users = new Map<string, UserInfo>();
  for (const [index, line] of lines.entries()) {
    const [token = '', name, uid, groups = ''] = line;
    if (name === undefined || uid === undefined) {
      throw new Error(`token file, entry ${index + 1}: expected at least 3 columns (token, user name, user uid)`);
    }
    if (token === '') continue;
    users.set(fingerprint(token), {
      name,
      ...(uid === '' ? {} : { uid }),
      groups: groups === '' ? [] : groups.split(',').map((group) => group.trim()),
    });
  }
  return users;
}

/** Knows the users of a token file; other tokens are left to the authenticators after it. */
export function tokenFileAuthenticator(users: ReadonlyMap<string, UserInfo>): TokenAuthenticator {
  return (token) => {
    const user = users.get(fingerprint(token));
    return user && { user };
  };
}
