/** Thrown for a text that is no base64; the message is the one that Go clients know. */
export class Base64Error extends Error {
  override readonly name = 'Base64Error';
}

const ALPHABET = /^[A-Za-z0-9+/]*={0,2}$/;

function failure(text: string): Base64Error {
  const foreign = text.search(/[^A-Za-z0-9+/]/);
  return new Base64Error(
    `illegal base64 data at input byte ${foreign < 0 ? text.length - (text.length % 4) : foreign}`,
  );
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Line breaks say nothing in base64. Of a megabyte of them, replacing each by itself takes a hundred milliseconds. */
export function withoutLineBreaks(text: string): string {
  if (!text.includes('\n') && !text.includes('\r')) return text;
  const bytes = Buffer.from(text);
  let length = 0;
  for (const byte of bytes) if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) bytes[length++] = byte;
  return bytes.toString('utf8', 0, length);
}

/**
 * The canonical spelling of standard base64 with padding: line breaks are ignored, stray bits of the last group are
 * cleared. Throws {@link Base64Error}.
 */
export function canonicalBase64(text: string): string {
  const joined = withoutLineBreaks(text);
  if (joined.length % 4 !== 0 || !ALPHABET.test(joined)) throw failure(joined);
  if (!joined.endsWith('=')) return joined;
  const head = joined.slice(0, -4);
  return head + Buffer.from(joined.slice(-4), 'base64').toString('base64');
}
