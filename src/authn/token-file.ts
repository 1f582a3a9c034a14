import { createHash } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import type { UserInfo } from '../api/user';
import type { TokenAuthenticator } from './credentials';

/** What is kept of a token. */
export function tokenDigest(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}

/** The users of a token file, by the digests of their tokens. */
export interface TokenFile {
  readonly users: ReadonlyMap<string, UserInfo>;
  /** What is odd in the file, without the tokens. */
  readonly warnings: readonly string[];
}

/**
 * `--token-auth-file`: CSV lines of token, user name, user uid and, optionally, a quoted comma-separated list of groups.
 * The tokens themselves are not kept, only their digests; of a token that comes twice the last line counts. Throws when
 * a line has fewer than three columns. Messages name the file and the line, and no token.
 */
export function parseTokenFile(text: string, file: string): TokenFile {
  const users = new Map<string, UserInfo>();
  const warnings: string[] = [];
  for (const { record, info } of readRecords(text, file)) {
    const [token = '', name, uid, groups = ''] = record;
    const line = `token file ${JSON.stringify(file)}, line ${info.lines}`;
    if (name === undefined || uid === undefined) {
      throw new Error(`${line}: must have at least 3 columns (token, user name, user uid), found ${record.length}`);
    }
    if (token === '') {
      warnings.push(`${line}: empty token`);
      continue;
    }
    const digest = tokenDigest(token);
    if (users.has(digest)) warnings.push(`${line}: duplicate token`);
    users.set(digest, {
      name,
      ...(uid === '' ? {} : { uid }),
      groups: groups === '' ? [] : groups.split(','),
    });
  }
  return { users, warnings };
}

interface CsvLine {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

function readRecords(text: string, file: string): readonly CsvLine[] {
  try {
    // The declarations of csv-parse do not know what `info` makes of the result.
    return parse(text, { relaxColumnCount: true, skipEmptyLines: true, info: true }) as unknown as readonly CsvLine[];
  } catch (error) {
    // Its own message may quote the line.
    const { code = 'CSV_ERROR', lines } = error as { readonly code?: string; readonly lines?: number };
    throw new Error(`token file ${JSON.stringify(file)}, line ${lines ?? 1}: no valid CSV (${code})`);
  }
}

/** Knows the users by the digests of their tokens; other tokens are left to the authenticators after it. */
export function tokenFileAuthenticator(users: ReadonlyMap<string, UserInfo>): TokenAuthenticator {
  return (token) => {
    const user = users.get(tokenDigest(token));
    return user && { user };
  };
}

/** The same for a file that changes: a token that was taken out of it is refused at once, wherever its verdict was remembered. */
export function changingTokenFileAuthenticator(current: () => ReadonlyMap<string, UserInfo>): TokenAuthenticator {
  return (token) => {
    const users = current();
    const user = users.get(tokenDigest(token));
    return user && { user, isCurrent: () => current() === users };
  };
}
