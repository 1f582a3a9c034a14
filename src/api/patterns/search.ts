import type { RE2JS } from 're2js';
import type { Steps } from '../parts';

/**
 * Searching a text for a pattern takes the length of one times the size of the other, and the library does it at one stretch: a text
 * of a megabyte and a pattern of a hundred repetitions take seconds. Long searches walk the library's own program here, which
 * is what it compiles patterns to, in steps. The test beside this compares both.
 */

/** Characters times instructions up to which the library searches by itself: a millisecond or two. */
const SHORT_SEARCH = 100_000;
/** Threads that are looked at in a step: some tenths of a millisecond. */
const THREADS_PER_STEP = 20_000;

/** An instruction of the compiled program (re2js, `Inst`). */
interface Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  readonly matchRune: (rune: number) => boolean;
}

const Op = {
  alternatives: 1,
  alternativesOfMatch: 2,
  capture: 3,
  emptyWidth: 4,
  fail: 5,
  match: 6,
  nothing: 7,
  rune: 8,
  oneRune: 9,
  anyRune: 10,
  anyRuneButNewline: 11,
} as const;

/** What an empty match may ask of its place. */
const Place = { beginLine: 1, endLine: 2, beginText: 4, endText: 8, wordBoundary: 16, noWordBoundary: 32 } as const;

const NEWLINE = 10;
const LAST_OF_ONE_UNIT = 0xffff;
const NONE = -1;

/** About how much a search takes: characters times instructions. */
export function searchSize(pattern: RE2JS, text: string): number {
  return text.length * (pattern.re2Input.numberOfInstructions() as number);
}

export function isLongSearch(pattern: RE2JS, text: string): boolean {
  return searchSize(pattern, text) > SHORT_SEARCH;
}

/** Whether the pattern is found anywhere in the text. */
export function* searchInSteps(pattern: RE2JS, text: string): Steps<boolean> {
  const { inst: instructions, start } = pattern.re2Input.prog as {
    readonly inst: readonly Instruction[];
    readonly start: number;
  };
  /** At which position an instruction was last reached. */
  const reachedAt = new Int32Array(instructions.length).fill(NONE);
  const waiting: number[] = [];
  const readers: number[] = [];
  const pending: number[] = [];
  let threads = 0;
  let before = NONE;
  for (let at = 0; ;) {
    const rune = at < text.length ? text.codePointAt(at)! : NONE;
    const place = placeBetween(before, rune);
    // It may begin anywhere.
    pending.push(start);
    for (const next of waiting) pending.push(next);
    readers.length = waiting.length = 0;
    while (pending.length > 0) {
      const next = pending.pop()!;
      if (reachedAt[next] === at) continue;
      reachedAt[next] = at;
      threads += 1;
      const { op, out, arg } = instructions[next]!;
      switch (op) {
        case Op.match:
          return true;
        case Op.fail:
          break;
        case Op.alternatives:
        case Op.alternativesOfMatch:
          pending.push(arg, out);
          break;
        case Op.emptyWidth:
          if ((arg & ~place) === 0) pending.push(out);
          break;
        case Op.capture:
        case Op.nothing:
          pending.push(out);
          break;
        default:
          readers.push(next);
      }
    }
    if (rune === NONE) return false;
    for (const reader of readers) if (reads(instructions[reader]!, rune)) waiting.push(instructions[reader]!.out);
    before = rune;
    at += rune > LAST_OF_ONE_UNIT ? 2 : 1;
    if (++threads >= THREADS_PER_STEP) {
      threads = 0;
      yield;
    }
  }
}

function reads(instruction: Instruction, rune: number): boolean {
  switch (instruction.op) {
    case Op.anyRune:
      return true;
    case Op.anyRuneButNewline:
      return rune !== NEWLINE;
    case Op.rune:
    case Op.oneRune:
      return instruction.matchRune(rune);
    default:
      throw new Error(`an instruction of a pattern is not known: ${instruction.op}`);
  }
}

function placeBetween(before: number, after: number): number {
  let place: number = isWord(before) === isWord(after) ? Place.noWordBoundary : Place.wordBoundary;
  if (before === NONE) place |= Place.beginText | Place.beginLine;
  else if (before === NEWLINE) place |= Place.beginLine;
  if (after === NONE) place |= Place.endText | Place.endLine;
  else if (after === NEWLINE) place |= Place.endLine;
  return place;
}

const UNDERSCORE = 95;

/** Of ASCII, as for Go. */
function isWord(rune: number): boolean {
  if (rune <= 57) return rune >= 48;
  if (rune <= 90) return rune >= 65;
  return rune === UNDERSCORE || (rune >= 97 && rune <= 122);
}
