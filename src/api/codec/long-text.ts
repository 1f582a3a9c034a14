import { BACKSLASH } from './json-bytes';
import { wholeCharacters } from './json-syntax';

const LOWER_U = 0x75;
const LOWER_D = 0x64;
const UPPER_D = 0x44;
/** Of a backslash, `u` and four digits. */
const ESCAPE_BYTES = 6;
/** A character of UTF-8 has so many bytes after its first at most. */
const MOST_CONTINUATIONS = 3;

/** A text of JSON that is parsed a part at a time, each of which is a text by itself. */
export class LongText {
  /** What has been parsed so far. */
  value = '';

  /** `position` is that after the quote at the text's beginning, `end` that of the quote at its end. */
  constructor(
    private readonly bytes: Buffer,
    private position: number,
    private readonly end: number,
    private readonly partBytes: number,
  ) {}

  /** Parses a part. True: it was the last one. Throws a SyntaxError. */
  advance(): boolean {
    const { bytes, position, end } = this;
    this.position = this.partEnd();
    const part = `"${bytes.toString('utf8', position, this.position)}"`;
    this.value += wholeCharacters(part, JSON.parse(part)) as string;
    return this.position === end;
  }

  /** Behind about as many bytes as are wanted, and not within a character, however that is written. */
  private partEnd(): number {
    const { bytes, position, end } = this;
    const wanted = Math.min(position + Math.max(1, this.partBytes), end);
    let index = position;
    while (index < wanted) index += this.lengthAt(index);
    // The other half of a pair, which together are one character.
    if (this.isSurrogate(index, isLow) && this.isSurrogate(index - ESCAPE_BYTES, isHigh)) index += ESCAPE_BYTES;
    for (let more = 0; more < MOST_CONTINUATIONS && isContinuation(bytes[index]!); more += 1) index += 1;
    // An escape that is cut off by the end is none, which is found by parsing it.
    return Math.min(index, end);
  }

  private lengthAt(index: number): number {
    if (this.bytes[index] !== BACKSLASH) return 1;
    return this.bytes[index + 1] === LOWER_U ? ESCAPE_BYTES : 2;
  }

  /** Whether bytes look like an escape for half a pair. */
  private isSurrogate(index: number, isHalf: (digit: number) => boolean): boolean {
    const { bytes } = this;
    if (index < this.position || index + ESCAPE_BYTES > this.end) return false;
    if (bytes[index] !== BACKSLASH || bytes[index + 1] !== LOWER_U) return false;
    return (bytes[index + 2] === LOWER_D || bytes[index + 2] === UPPER_D) && isHalf(bytes[index + 3]!);
  }
}

/** Of the second digit: 8, 9, a, b. */
function isHigh(digit: number): boolean {
  return digit === 0x38 || digit === 0x39 || isLetter(digit, 0x61, 0x62);
}

/** c to f. */
function isLow(digit: number): boolean {
  return isLetter(digit, 0x63, 0x66);
}

/** In either case. */
function isLetter(code: number, first: number, last: number): boolean {
  const lower = code | 0x20;
  return lower >= first && lower <= last;
}

function isContinuation(byte: number): boolean {
  return byte >= 0x80 && byte < 0xc0;
}
