import { compressionError } from './http2-error';

export interface HeaderField {
  readonly name: string;
  readonly value: string;
}

/** RFC 7541, appendix A: names, some with a value; the first has index 1. */
export const staticTable: readonly HeaderField[] = `
:authority|:method=GET|:method=POST|:path=/|:path=/index.html|:scheme=http|:scheme=https|:status=200|:status=204|
:status=206|:status=304|:status=400|:status=404|:status=500|accept-charset|accept-encoding=gzip, deflate|
accept-language|accept-ranges|accept|access-control-allow-origin|age|allow|authorization|cache-control|
content-disposition|content-encoding|content-language|content-length|content-location|content-range|content-type|
cookie|date|etag|expect|expires|from|host|if-match|if-modified-since|if-none-match|if-range|if-unmodified-since|
last-modified|link|location|max-forwards|proxy-authenticate|proxy-authorization|range|referer|refresh|retry-after|
server|set-cookie|strict-transport-security|transfer-encoding|user-agent|vary|via|www-authenticate`
  .replaceAll('\n', '')
  .split('|')
  .map((entry) => {
    const [name = '', value = ''] = entry.split('=');
    return { name, value };
  });

/** What RFC 7541 (4.1) adds to the length of a field. */
export const FIELD_OVERHEAD_BYTES = 32;

/** The fields that a block of headers can refer to: the static ones, and those that the sender wanted remembered. */
export class HeaderTable {
  /** The newest is the last. */
  readonly #fields: HeaderField[] = [];
  #bytes = 0;
  #limit: number;

  /** `maxBytes`: what the sender was told (SETTINGS_HEADER_TABLE_SIZE). */
  constructor(private readonly maxBytes: number) {
    this.#limit = maxBytes;
  }

  /** Throws an {@link Http2Error} when nothing has that index. */
  get(index: number): HeaderField {
    const field =
      index <= staticTable.length
        ? staticTable[index - 1]
        : this.#fields[this.#fields.length - (index - staticTable.length)];
    if (field === undefined) throw compressionError(`there is no header field with index ${index}`);
    return field;
  }

  /** Forgets the oldest fields until there is room; one that is larger than the table empties it (RFC 7541, 4.4). */
  add(field: HeaderField): void {
    const bytes = sizeOf(field);
    this.#evict(this.#limit - bytes);
    if (bytes > this.#limit) return;
    this.#fields.push(field);
    this.#bytes += bytes;
  }

  /** Throws an {@link Http2Error} for a size that the sender may not choose. */
  resize(limit: number): void {
    if (limit > this.maxBytes) throw compressionError('the header table is larger than we allow');
    this.#limit = limit;
    this.#evict(limit);
  }

  #evict(limit: number): void {
    let gone = 0;
    while (this.#bytes > limit && gone < this.#fields.length) this.#bytes -= sizeOf(this.#fields[gone++]!);
    if (gone > 0) this.#fields.splice(0, gone);
  }
}

/** Bytes, as RFC 7541 (4.1) counts them. */
export function sizeOf({ name, value }: HeaderField): number {
  return name.length + value.length + FIELD_OVERHEAD_BYTES;
}
