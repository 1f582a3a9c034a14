/** One block of a PEM text (RFC 7468, with the headers of RFC 1421). */
export interface PemBlock {
  /** What stands between `BEGIN` and the dashes. */
  readonly label: string;
  readonly hasHeaders: boolean;
  readonly bytes: Buffer;
}

const BEGIN = '-----BEGIN ';
const END = '-----END ';
const DASHES = '-----';
const BASE64 = /[A-Za-z0-9+/ \t\r\n]*={0,2}[ \t\r\n]*/y;

/** A line without its end and the blanks before it, and where the next one begins. */
function lineAt(text: string, start: number): { readonly line: string; readonly next: number } {
  const newline = text.indexOf('\n', start);
  const end = newline < 0 ? text.length : newline;
  return { line: text.slice(start, end).trimEnd(), next: newline < 0 ? end : end + 1 };
}

/** Where the next line is that begins with the words; -1: nowhere. */
function lineWith(text: string, words: string, from: number): number {
  if (text.startsWith(words, from) && (from === 0 || text[from - 1] === '\n')) return from;
  const found = text.indexOf(`\n${words}`, from);
  return found < 0 ? -1 : found + 1;
}

/** The bytes between the two places; undefined where that is not base64. */
function bytesBetween(text: string, start: number, end: number): Buffer | undefined {
  BASE64.lastIndex = start;
  BASE64.test(text);
  if (BASE64.lastIndex < end) return undefined;
  const base64 = text.slice(start, end).replace(/[ \t\r\n]+/g, '');
  return base64.length % 4 === 0 ? Buffer.from(base64, 'base64') : undefined;
}

/**
 * The blocks of a text, in order, as they are asked for. What stands around them, and blocks that are not well formed, is passed over. The time
 * that it takes grows with the text only, whatever is in it.
 */
export function* pemBlocks(text: string): Generator<PemBlock, void> {
  let end = 0;
  for (let begin = lineWith(text, BEGIN, 0); begin >= 0;) {
    const { line, next } = lineAt(text, begin + BEGIN.length);
    let content = next;
    if (line.endsWith(DASHES)) {
      const label = line.slice(0, -DASHES.length);
      for (let header = lineAt(text, content); header.line.includes(':'); header = lineAt(text, content)) {
        content = header.next;
      }
      if (end < content) end = lineWith(text, END, content);
      if (end < 0) return;
      const last = lineAt(text, end + END.length);
      const bytes = last.line === label + DASHES ? bytesBetween(text, content, end) : undefined;
      if (bytes !== undefined) {
        yield { label, hasHeaders: content !== next, bytes };
        content = last.next;
      }
    }
    begin = lineWith(text, BEGIN, content);
  }
}
