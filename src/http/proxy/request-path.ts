/** What may stand in a path as it is; as Go's `url.URL.EscapedPath` has it. */
const UNESCAPED = /[^A-Za-z0-9\-_.~$&+,/:;=@]+/g;

/** A decoded path as it stands in a request line. */
export function escapePath(path: string): string {
  return path.replace(UNESCAPED, (text) => {
    let escaped = '';
    for (const byte of Buffer.from(text, 'utf8')) escaped += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    return escaped;
  });
}
