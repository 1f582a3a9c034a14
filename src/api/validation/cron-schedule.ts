import { quoteShown, shownText } from '../errors/shown-value';
import { atOnce, type Steps } from '../parts';

/**
 * The five fields of a cron schedule, or one of its short names. The sentences are those of the parser that the API has
 * always quoted.
 */
interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
/** Minute, hour, day of the month, month, day of the week. */
const FIELDS: readonly Bounds[] = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: DAYS },
];
const SHORT_NAMES = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];
const EVERY = '@every ';
/** Fields or ranges that are looked at at once, some tenths of a millisecond. */
const PARTS_OF_STEP = 200;
const DURATION = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$/;

/** Ends the parse of one field with the sentence that says why. */
class ScheduleProblem extends Error {}

function parseNumber(text: string): number {
  if (!/^[+-]?\d+$/.test(text)) {
    throw new ScheduleProblem(
      `Failed to parse int from ${shownText(text)}: strconv.Atoi: parsing ${quoteShown(text)}: invalid syntax`,
    );
  }
  const value = Number(text);
  if (value < 0) throw new ScheduleProblem(`Negative number (${value}) not allowed: ${shownText(text)}`);
  return value;
}

function parseNumberOrName(text: string, { min, names }: Bounds): number {
  const index = names.indexOf(text.toLowerCase());
  return index < 0 ? parseNumber(text) : min + index;
}

/** `low-high`, a single value, or a star for all there are. */
function parseEnds(range: string, expression: string, bounds: Bounds): readonly [start: number, end: number] {
  const [low = '', high, ...more] = range.split('-', 3);
  if (low === '*' || low === '?') return [bounds.min, bounds.max];
  const start = parseNumberOrName(low, bounds);
  if (more.length > 0) throw new ScheduleProblem(`Too many hyphens: ${shownText(expression)}`);
  return [start, high === undefined ? start : parseNumberOrName(high, bounds)];
}

function checkRange(expression: string, bounds: Bounds): void {
  const [range = '', stepText, ...more] = expression.split('/', 3);
  const [start, lastGiven] = parseEnds(range, expression, bounds);
  if (more.length > 0) throw new ScheduleProblem(`Too many slashes: ${shownText(expression)}`);
  const step = stepText === undefined ? 1 : parseNumber(stepText);
  // `5/10` counts from five to the end.
  const end = stepText !== undefined && !range.includes('-') ? bounds.max : lastGiven;
  if (start < bounds.min) {
    throw new ScheduleProblem(`Beginning of range (${start}) below minimum (${bounds.min}): ${shownText(expression)}`);
  }
  if (end > bounds.max)
    throw new ScheduleProblem(`End of range (${end}) above maximum (${bounds.max}): ${shownText(expression)}`);
  if (start > end) {
    throw new ScheduleProblem(`Beginning of range (${start}) beyond end of range (${end}): ${shownText(expression)}`);
  }
  if (step === 0) throw new ScheduleProblem(`Step of range should be a positive number: ${shownText(expression)}`);
}

function* rangesOf(field: string): Generator<string> {
  for (const [range] of field.matchAll(/[^,]+/g)) yield range;
}

function shortNameProblem(schedule: string): string | undefined {
  if (SHORT_NAMES.includes(schedule)) return undefined;
  if (!schedule.startsWith(EVERY)) return `Unrecognized descriptor: ${shownText(schedule)}`;
  const duration = schedule.slice(EVERY.length);
  return DURATION.test(duration)
    ? undefined
    : `Failed to parse duration ${shownText(schedule)}: time: invalid duration ${quoteShown(duration)}`;
}

/** Why a text is no schedule; undefined when it is one. */
export function cronScheduleProblem(schedule: string): string | undefined {
  return atOnce(cronScheduleSteps(schedule));
}

/** The same in steps: a field may list a million ranges. */
export function* cronScheduleSteps(schedule: string): Steps<string | undefined> {
  if (schedule.startsWith('@')) return shortNameProblem(schedule);
  const fields: string[] = [];
  let count = 0;
  for (const [field] of schedule.matchAll(/\S+/g)) {
    count += 1;
    if (count <= FIELDS.length) fields.push(field);
    else if (count % PARTS_OF_STEP === 0) yield;
  }
  if (count !== FIELDS.length) {
    return `Expected exactly ${FIELDS.length} fields, found ${count}: ${shownText(schedule)}`;
  }
  try {
    for (const [index, bounds] of FIELDS.entries()) {
      let ranges = 0;
      for (const range of rangesOf(fields[index] ?? '')) {
        checkRange(range, bounds);
        ranges += 1;
        if (ranges % PARTS_OF_STEP === 0) yield;
      }
    }
    return undefined;
  } catch (error) {
    if (error instanceof ScheduleProblem) return error.message;
    throw error;
  }
}
