import { isatty } from 'node:tty';
import { pino, type DestinationStream, type Logger as PinoLogger } from 'pino';
import { STANDARD_ERROR, standardErrorOutput } from './log-output';
import { readableLine } from './readable-lines';

/** One line per message, on standard error: of JSON, or at a terminal of text. Causes of failures go here and nowhere else. */
export type Logger = PinoLogger;

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

export type LogFormat = 'json' | 'text';

export interface LoggerOptions {
  readonly level?: LogLevel;
  /** Absent: text at a terminal, JSON elsewhere. */
  readonly format?: LogFormat;
  /** Where lines go; absent: standard error. */
  readonly destination?: DestinationStream;
}

export function createLogger({ level = 'info', format, destination }: LoggerOptions = {}): Logger {
  const output = destination ?? standardErrorOutput();
  const isText = (format ?? (isatty(STANDARD_ERROR) ? 'text' : 'json')) === 'text';
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: ['headers.authorization', '*.headers.authorization', 'token', '*.token'], censor: '[hidden]' },
    },
    isText ? { write: (line) => output.write(readableLine(line)) } : output,
  );
}

/** For tests, and for libraries that want silence. */
export const silentLogger: Logger = pino({ level: 'silent' });
