/** Without vowels and look-alikes, so that a suffix never reads as a word (HTTP facts, "generateName"). */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const LENGTH = 5;

/** What makes a generated name another one. `randomInt`: a whole number from 0 to below its argument. */
export function nameSuffix(randomInt: (below: number) => number): string {
  return Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}

export function isNameSuffix(text: string): boolean {
  return text.length === LENGTH && [...text].every((letter) => ALPHABET.includes(letter));
}
