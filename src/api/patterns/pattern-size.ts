/** What reading a pattern makes of it is as large as this at most: some milliseconds of work, and as many megabytes. */
export const MAX_PATTERN_SIZE = 16_000;

export const PATTERN_TOO_LARGE = 'error parsing regexp: expression nests or repeats too much';

/**
 * About how large a pattern is once its repetitions are written out: `(a{9}){9}` is 81. Reckoned from its text in one pass, and
 * never too small for one that can be read.
 */
export function patternSize(pattern: string): number {
  const outer: number[] = [];
  let total = 0;
  /** Of what a repetition would repeat. */
  let last = 0;
  const add = (size: number): void => {
    total += size;
    last = size;
  };
  for (let index = 0; index < pattern.length; index += 1) {
    const character = pattern[index];
    if (character === '\\') {
      index += 1;
      add(1);
    } else if (character === '[') {
      index = endOfClass(pattern, index);
      add(1);
    } else if (character === '(') {
      outer.push(total);
      total = 0;
    } else if (character === ')') {
      const inner = total;
      total = outer.pop() ?? 0;
      add(inner + 1);
    } else if (character === '{') {
      const repetition = REPETITION.exec(pattern.slice(index, index + LONGEST_REPETITION));
      const [whole = '{', least = '1', most = ''] = repetition ?? [];
      const times = Math.max(1, Number(least), Number(most));
      total += last * (times - 1);
      last *= times;
      index += whole.length - 1;
    } else add(1);
  }
  return outer.reduce((sum, size) => sum + size, total);
}

const LONGEST_REPETITION = 12;
const REPETITION = /^\{(\d+)(?:,(\d*))?\}/;

/** The position of the bracket that ends the class that begins there. */
function endOfClass(pattern: string, start: number): number {
  let index = start + 1;
  if (pattern[index] === '^') index += 1;
  // The first one stands for itself.
  if (pattern[index] === ']') index += 1;
  while (index < pattern.length && pattern[index] !== ']') {
    if (pattern[index] === '\\') index += 1;
    else if (pattern.startsWith('[:', index)) {
      const end = pattern.indexOf(':]', index);
      if (end > 0) index = end + 1;
    }
    index += 1;
  }
  return index;
}
