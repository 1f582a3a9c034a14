import { compressionError } from './http2-error';

/** What RFC 7541 (4.1) adds to the length of a field. */
export const FIELD_OVERHEAD_BYTES = 32;

/** RFC 9113 (8.2.1): a name of RFC 9110 (5.6.2) without capitals, after the colon of a pseudo-header. */
const NAME = /^:?[!#$%&'*+\-.^_`|~0-9a-z]+$/;
// eslint-disable-next-line no-control-regex -- what control characters there are is the point
const BAD_IN_VALUE = /[\0-\x08\x0a-\x1f\x7f]/;
const SPACE = 0x20;
const TAB = 0x09;

/** How often texts were looked through, since the start. */
export const judged: { names: number; values: number } = { names: 0, values: 0 };

/**
 * One line of a header. Whether it is well-formed is found out once, when it is first asked for: the fields of a table, to which a byte
 * refers, keep the answer.
 */
export class HeaderField {
  /** As RFC 7541 (4.1) counts. */
  readonly bytes: number;
  #hasGoodName: boolean | undefined;
  #hasGoodValue: boolean | undefined;
  #text: string | undefined;

  /** `named`: a field that has the same name. */
  constructor(
    readonly name: string,
    readonly value: string,
    named?: HeaderField,
  ) {
    this.bytes = name.length + value.length + FIELD_OVERHEAD_BYTES;
    this.#hasGoodName = named?.hasGoodName;
  }

  get hasGoodName(): boolean {
    return (this.#hasGoodName ??= isGoodName(this.name));
  }

  /**
   * What is to be read: the value, but a `user-agent` without blanks around it. Programs in Go put texts of all kinds there, and
   * kube-apiserver takes them.
   */
  get text(): string {
    return (this.#text ??= this.name === 'user-agent' ? withoutBlanksAround(this.value) : this.value);
  }

  /** RFC 9113, section 8.2.1. */
  get isWellFormed(): boolean {
    return this.hasGoodName && (this.#hasGoodValue ??= isGoodValue(this.text));
  }
}

function isGoodName(name: string): boolean {
  judged.names++;
  return NAME.test(name);
}

function isGoodValue(value: string): boolean {
  judged.values++;
  return !isBlank(value, 0) && !isBlank(value, value.length - 1) && !BAD_IN_VALUE.test(value);
}

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === SPACE || code === TAB;
}

function withoutBlanksAround(value: string): string {
  let from = 0;
  let to = value.length;
  while (from < to && isBlank(value, from)) from++;
  while (to > from && isBlank(value, to - 1)) to--;
  return value.slice(from, to);
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
    return new HeaderField(name, value);
  });

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

  /** The largest index that something has. */
  get lastIndex(): number {
    return staticTable.length + this.#fields.length;
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
    const { bytes } = field;
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
    while (this.#bytes > limit && gone < this.#fields.length) this.#bytes -= this.#fields[gone++]!.bytes;
    if (gone > 0) this.#fields.splice(0, gone);
  }
}
