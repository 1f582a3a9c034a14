import { HeaderTable } from '../../../http2/header-table';
import { readHeaderBlock } from '../../../http2/hpack';

export type Headers = ReadonlyMap<string, string>;

/** Blocks that came before, with what they mean: a block without state always means the same, and servers repeat themselves. */
const known = new Map<string, Headers>();
const MAX_KNOWN = 64;
const MAX_KNOWN_BYTES = 256;
const NO_TABLE = new HeaderTable(0);

/**
 * Reads a whole block of someone who was told that we keep no dynamic table (SETTINGS_HEADER_TABLE_SIZE 0). A field that
 * is to be remembered is then larger than the table, which RFC 7541 (4.4) allows; a reference to one is an error. The last of
 * several fields of one name wins. Throws an {@link Http2Error}.
 */
export function decodeHeaders(block: Buffer): Headers {
  if (block.length > MAX_KNOWN_BYTES) return readBlock(block);
  const key = block.toString('latin1');
  const before = known.get(key);
  if (before !== undefined) return before;
  const headers = readBlock(block);
  if (known.size === MAX_KNOWN) known.clear();
  known.set(key, headers);
  return headers;
}

function readBlock(block: Buffer): Headers {
  const headers = new Map<string, string>();
  readHeaderBlock(block, NO_TABLE, ({ name, value }) => {
    headers.set(name, value);
    return true;
  });
  return headers;
}
