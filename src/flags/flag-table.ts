import { parseDuration } from '../api/time/duration';
import { nearestName } from './nearest-name';

/**
 * A small pflag: `--name value`, `--name=value`, `--bool`, `--bool=false`, lists by comma or repetition. One table gives
 * parsing, `--help` and the type of the options.
 */
export type FlagType =
  'string' | 'strings' | 'stringArray' | 'int' | 'float' | 'port' | 'bool' | 'duration' | 'map' | 'pairs';

export interface Flag<Type extends FlagType = FlagType> {
  readonly type: Type;
  /** As a user would write it; absent: the zero value of the type. */
  readonly default?: string;
  readonly help: string;
  /** Headline in `--help`. */
  readonly section: string;
}

export type FlagTable = Readonly<Record<string, Flag>>;

interface ValueOf {
  string: string;
  strings: readonly string[];
  /** Each value as it was given: commas mean something to its reader. */
  stringArray: readonly string[];
  int: number;
  float: number;
  port: number;
  bool: boolean;
  /** Milliseconds. */
  duration: number;
  /** A key without a value is true. */
  map: Readonly<Record<string, string>>;
  /** Every key has a value. */
  pairs: Readonly<Record<string, string>>;
}

type CamelCase<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** The options of a table: `--secure-port` is `securePort`. */
export type OptionsOf<Table extends FlagTable> = {
  readonly [Name in keyof Table & string as CamelCase<Name>]: ValueOf[Table[Name]['type']];
};

export interface ParsedFlags<Table extends FlagTable> {
  readonly options: OptionsOf<Table>;
  /** The names that were given, without dashes. */
  readonly given: ReadonlySet<string>;
  /** Accepted flags without effect. */
  readonly warnings: readonly string[];
}

/** All problems of a command line at once. */
export class UsageError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'UsageError';
  }
}

function camelCase(name: string): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

const parsers: { readonly [Type in FlagType]: (texts: readonly string[]) => ValueOf[Type] } = {
  string: (texts) => texts.at(-1) ?? '',
  strings: (texts) => texts.flatMap((text) => (text === '' ? [] : text.split(','))),
  stringArray: (texts) => texts.filter((text) => text !== ''),
  int: (texts) => parseInteger(texts.at(-1) ?? '0', Number.MAX_SAFE_INTEGER),
  float: (texts) => parseNumber(texts.at(-1) ?? '0'),
  port: (texts) => parseInteger(texts.at(-1) ?? '0', 65535),
  bool: (texts) => parseBool(texts.at(-1) ?? 'false'),
  duration: (texts) => parseDurationMs(texts.at(-1) ?? '0s'),
  map: (texts) =>
    Object.fromEntries(
      texts
        .flatMap((text) => text.split(','))
        .filter((pair) => pair !== '')
        .map((pair) => {
          const [key = '', ...value] = pair.split('=');
          return [key.trim(), value.length === 0 ? 'true' : value.join('=').trim()];
        }),
    ),
  pairs: (texts) =>
    Object.fromEntries(
      texts
        .flatMap((text) => text.split(','))
        .filter((pair) => pair !== '')
        .map((pair) => {
          const [key = '', ...value] = pair.split('=');
          if (value.length === 0) throw new Error('malformed pair, expect string=string');
          return [key.trim(), value.join('=').trim()];
        }),
    ),
};

function parseInteger(text: string, max: number): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isInteger(value) || value < 0 || value > max) {
    throw new Error(`must be an integer from 0 to ${max}`);
  }
  return value;
}

function parseNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0) throw new Error('must be a number, 0 or more');
  return value;
}

function parseBool(text: string): boolean {
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(text)) return true;
  if (['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(text)) return false;
  throw new Error('must be true or false');
}

function parseDurationMs(text: string): number {
  try {
    return Number(parseDuration(text)) / 1e6;
  } catch {
    throw new Error('must be a duration such as 90s, 5m or 1h30m');
  }
}

function unknownFlag(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return `unknown flag: --${name}${nearest === undefined ? '' : ` (did you mean --${nearest}?)`}`;
}

/**
 * Parses arguments by the table. Flags in `ignored` are taken with a warning. Throws {@link UsageError} with every
 * unknown flag, missing value and malformed value, and every flag that asks for what is not there (`unbuilt`: for what).
 */
export function parseFlags<const Table extends FlagTable>(
  table: Table,
  argv: readonly string[],
  ignored: Readonly<Record<string, 'bool' | 'value'>> = {},
  unbuilt: ReadonlyMap<string, string> = new Map(),
): ParsedFlags<Table> {
  const texts = new Map<string, string[]>();
  const warnings: string[] = [];
  const problems: string[] = [];
  const rest = [...argv];
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    const match = /^--?([a-zA-Z][\w.-]*)(?:=([\s\S]*))?$/.exec(argument);
    const written = match?.[1]?.replaceAll('_', '-') ?? '';
    const name = argument === '-h' && !Object.hasOwn(table, 'h') ? 'help' : written;
    const missing = unbuilt.get(name);
    const isKnown = Object.hasOwn(table, name);
    const withoutEffect = Object.hasOwn(ignored, name) ? ignored[name] : undefined;
    const kind = isKnown ? table[name]?.type : missing === undefined ? withoutEffect : 'value';
    if (kind === undefined) {
      const known = [...Object.keys(table), ...Object.keys(ignored)];
      problems.push(match === null ? `unexpected argument ${JSON.stringify(argument)}` : unknownFlag(name, known));
      continue;
    }
    const value = match?.[2] ?? (kind === 'bool' ? 'true' : rest.shift());
    if (value === undefined) problems.push(`flag needs an argument: --${name}`);
    else if (missing !== undefined) {
      if (value !== '') problems.push(`flag --${name} asks for ${missing}, which this server does not have yet`);
    } else if (!isKnown) warnings.push(`flag --${name} is accepted but has no effect`);
    else texts.set(name, [...(texts.get(name) ?? []), value]);
  }
  const options: Record<string, unknown> = {};
  for (const [name, flag] of Object.entries(table)) {
    const given = texts.get(name) ?? (flag.default === undefined ? [] : [flag.default]);
    try {
      options[camelCase(name)] = parsers[flag.type](given);
    } catch (error) {
      problems.push(`invalid argument ${JSON.stringify(given.at(-1))} for --${name}: ${(error as Error).message}`);
    }
  }
  if (problems.length > 0) throw new UsageError(problems);
  return { options: options as OptionsOf<Table>, given: new Set(texts.keys()), warnings };
}

/** The text of `--help` for a table. */
export function describeFlags(table: FlagTable): string {
  const sections = new Map<string, string[]>();
  for (const [name, flag] of Object.entries(table)) {
    const value = flag.type === 'bool' ? '' : ` ${flag.type}`;
    const standard = flag.default === undefined || flag.default === '' ? '' : ` (default ${flag.default})`;
    sections.set(flag.section, [
      ...(sections.get(flag.section) ?? []),
      `      --${name}${value}\n              ${flag.help}${standard}`,
    ]);
  }
  return [...sections].map(([section, lines]) => `${section} flags:\n\n${lines.join('\n')}\n`).join('\n');
}
