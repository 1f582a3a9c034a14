const HALF_OF_PAIR = /[\ud800-\udfff]/;

/**
 * The characters of a text, in which halves of a pair are one. Texts without pairs, which is nearly all, are not looked through where the
 * platform keeps a byte for each character.
 */
export function countCharacters(text: string): number {
  if (!HALF_OF_PAIR.test(text)) return text.length;
  let count = text.length;
  for (let index = 1; index < text.length; index += 1) {
    if (isLow(text.charCodeAt(index)) && isHigh(text.charCodeAt(index - 1))) count -= 1;
  }
  return count;
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
