/** One block of a PEM text (RFC 7468, with the headers of RFC 1421). */
export interface PemBlock {
  /** What stands between `BEGIN` and the dashes. */
  readonly label: string;
  readonly hasHeaders: boolean;
  readonly bytes: Buffer;
}

const BLOCK = /^-----BEGIN ([^\r\n]*?)-----[ \t]*\r?\n([\s\S]*?)-----END ([^\r\n]*?)-----[ \t]*\r?$/gm;
const HEADER = /^[^:\r\n]+:[^\r\n]*\r?\n/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The blocks of a text, in order. What stands around them, and blocks that are not well formed, is passed over. */
export function pemBlocks(text: string): readonly PemBlock[] {
  return [...text.matchAll(BLOCK)].flatMap(([, label = '', content = '', endLabel]) => {
    let body = content;
    while (HEADER.test(body)) body = body.replace(HEADER, '');
    const base64 = body.replace(/\s/g, '');
    const isWellFormed = label === endLabel && BASE64.test(base64) && base64.length % 4 === 0;
    return isWellFormed ? [{ label, hasHeaders: body !== content, bytes: Buffer.from(base64, 'base64') }] : [];
  });
}
