/**
 * Keys are ordered bytewise, as etcd orders them. JavaScript compares UTF-16 code units, which differs as soon as a key
 * has characters beyond U+FFFF; so trees are keyed by strings with one character per UTF-8 byte. For ASCII keys, which
 * are all but a few, that is the key itself.
 */

/** One character (0–255) per byte of the key's UTF-8 form: `<` on the results is the store's order. */
export function byteOrdered(key: string): string {
  return isAscii(key) ? key : Buffer.from(key, 'utf8').toString('latin1');
}

/** Done for every look-up of a key, where calling a regular expression would cost most of it. */
function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x7f) return false;
  return true;
}

/**
 * The least byte-ordered string above everything that begins with `prefix` (itself byte-ordered); undefined when there
 * is none.
 */
export function endOfPrefix(prefix: string): string | undefined {
  for (let end = prefix.length; end > 0; end--) {
    const last = prefix.charCodeAt(end - 1);
    if (last < 0xff) return prefix.slice(0, end - 1) + String.fromCharCode(last + 1);
  }
  return undefined;
}
