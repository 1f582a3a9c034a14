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
const DURATION = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$/;

/** Ends the parse of one field with the sentence that says why. */
class ScheduleProblem extends Error {}

function parseNumber(text: string): number {
  if (!/^[+-]?\d+$/.test(text)) {
    throw new ScheduleProblem(
      `Failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  }
  const value = Number(text);
  if (value < 0) throw new ScheduleProblem(`Negative number (${value}) not allowed: ${text}`);
  return value;
}

function parseNumberOrName(text: string, { min, names }: Bounds): number {
  const index = names.indexOf(text.toLowerCase());
  return index < 0 ? parseNumber(text) : min + index;
}

/** `low-high`, a single value, or a star for all there are. */
function parseEnds(range: string, expression: string, bounds: Bounds): readonly [start: number, end: number] {
  const [low = '', high, ...more] = range.split('-');
  if (low === '*' || low === '?') return [bounds.min, bounds.max];
  const start = parseNumberOrName(low, bounds);
  if (more.length > 0) throw new ScheduleProblem(`Too many hyphens: ${expression}`);
  return [start, high === undefined ? start : parseNumberOrName(high, bounds)];
}

function checkRange(expression: string, bounds: Bounds): void {
  const [range = '', stepText, ...more] = expression.split('/');
  const [start, lastGiven] = parseEnds(range, expression, bounds);
  if (more.length > 0) throw new ScheduleProblem(`Too many slashes: ${expression}`);
  const step = stepText === undefined ? 1 : parseNumber(stepText);
  // `5/10` counts from five to the end.
  const end = stepText !== undefined && !range.includes('-') ? bounds.max : lastGiven;
  if (start < bounds.min) {
    throw new ScheduleProblem(`Beginning of range (${start}) below minimum (${bounds.min}): ${expression}`);
  }
  if (end > bounds.max) throw new ScheduleProblem(`End of range (${end}) above maximum (${bounds.max}): ${expression}`);
  if (start > end) {
    throw new ScheduleProblem(`Beginning of range (${start}) beyond end of range (${end}): ${expression}`);
  }
  if (step === 0) throw new ScheduleProblem(`Step of range should be a positive number: ${expression}`);
}

function shortNameProblem(schedule: string): string | undefined {
  if (SHORT_NAMES.includes(schedule)) return undefined;
  if (!schedule.startsWith(EVERY)) return `Unrecognized descriptor: ${schedule}`;
  const duration = schedule.slice(EVERY.length);
  return DURATION.test(duration)
    ? undefined
    : `Failed to parse duration ${schedule}: time: invalid duration ${JSON.stringify(duration)}`;
}

/** Why a text is no schedule; undefined when it is one. */
export function cronScheduleProblem(schedule: string): string | undefined {
  if (schedule.startsWith('@')) return shortNameProblem(schedule);
  const fields = schedule.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== FIELDS.length) {
    return `Expected exactly ${FIELDS.length} fields, found ${fields.length}: ${schedule}`;
  }
  try {
    for (const [index, bounds] of FIELDS.entries()) {
      for (const range of (fields[index] ?? '').split(',')) if (range !== '') checkRange(range, bounds);
    }
    return undefined;
  } catch (error) {
    if (error instanceof ScheduleProblem) return error.message;
    throw error;
  }
}
