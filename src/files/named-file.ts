import { readFileSync } from 'node:fs';

/** What to do about a file that is no good. */
export function namedBy(...flags: readonly string[]): string {
  return `It is named by ${flags.map((flag) => `--${flag}`).join(' and ')}: name another, or mend it`;
}

/** The bytes of a file that a flag names. Throws an error that says which file and which flag. */
export function readNamedFile(file: string, flag: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`${file}: it cannot be read (${(error as Error).message}). ${namedBy(flag)}`, { cause: error });
  }
}

/** The same, as text. */
export function readNamedText(file: string, flag: string): string {
  return readNamedFile(file, flag).toString('utf8');
}
