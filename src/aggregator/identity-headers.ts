import type { UserInfo } from '../api/user';

/** How an API server that believes this one's certificate learns who asks (`--requestheader-*-headers` there). */
const USER = 'x-remote-user';
const UID = 'x-remote-uid';
const GROUP = 'x-remote-group';
const EXTRA = 'x-remote-extra-';

/** Whom the server itself is when it asks, as with kube-apiserver. */
export const AGGREGATOR: UserInfo = { name: 'system:kube-aggregator', groups: ['system:masters'] };

/** Lower-case. A client that sends one could pass for any user. */
export function isIdentityHeader(name: string): boolean {
  return name === USER || name === UID || name === GROUP || name.startsWith(EXTRA);
}

/** Undefined for a user whose name or groups no header can carry as they are. */
export function identityHeaders({ name, groups, extra = {} }: UserInfo): Record<string, string[]> | undefined {
  const headers: Record<string, string[]> = { 'X-Remote-User': [bytesOf(name)] };
  if (groups.length > 0) headers['X-Remote-Group'] = groups.map(bytesOf);
  for (const [key, values] of Object.entries(extra)) {
    if (values.length > 0) headers[`X-Remote-Extra-${escapeKey(key)}`] = values.map(bytesOf);
  }
  return Object.values(headers).every((values) => values.every(isHeaderValue)) ? headers : undefined;
}

/** UTF-8, a character for each byte, as Node.js writes headers. */
function bytesOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** Spaces at the ends would be lost on the way. */
function isHeaderValue(value: string): boolean {
  return /^[\t -~\x80-\xff]*$/.test(value) && value.trim() === value;
}

/** What may not stand in the name of a header is percent-encoded, and so is the percent sign. */
function escapeKey(key: string): string {
  return key.replace(/[^!#$&'*+\-.^_`|~0-9A-Za-z]/gu, (character) =>
    [...Buffer.from(character, 'utf8')].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
}
