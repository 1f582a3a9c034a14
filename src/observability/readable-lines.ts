/** What stands before the message, or is told in words. */
const KNOWN: ReadonlySet<string> = new Set(['level', 'time', 'msg', 'err']);
const PLAIN = /^[^\s"=\p{Cc}]+$/u;
/** Control characters, which a terminal would obey. */
const CONTROL = /[\p{Cc}\u2028\u2029]/gu;

interface LoggedError {
  readonly type?: unknown;
  readonly message?: unknown;
  readonly stack?: unknown;
}

/** A line of the JSON log as a terminal shows it: `12:00:01.250 WARN  message name=value`. */
export function readableLine(line: string): string {
  let record: Readonly<Record<string, unknown>>;
  try {
    record = JSON.parse(line) as Readonly<Record<string, unknown>>;
  } catch {
    return line;
  }
  const { level = '', time, msg = '' } = record;
  const clock = typeof time === 'string' ? time.slice('2026-01-01T'.length, -1) : '';
  const details = Object.entries(record)
    .filter(([name]) => !KNOWN.has(name))
    .map(([name, value]) => ` ${harmless(name)}=${valueText(value)}`);
  const cause = errorText(record['err'] as LoggedError | undefined, String(level));
  return `${clock} ${String(level).toUpperCase().padEnd(5)} ${harmless(String(msg))}${details.join('')}${cause}\n`;
}

function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return PLAIN.test(text) ? text : harmless(JSON.stringify(value));
}

/** Where an error comes from is told when it is one of the server's own; of others, what it says. */
function errorText(error: LoggedError | undefined, level: string): string {
  if (error === undefined) return '';
  const { message, stack } = error;
  if (!['error', 'fatal'].includes(level) || typeof stack !== 'string') return `: ${harmless(String(message))}`;
  return `\n${stack
    .split('\n')
    .map((one) => `    ${harmless(one)}`)
    .join('\n')}`;
}

function harmless(text: string): string {
  return text.replace(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
