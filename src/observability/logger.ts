import { pino, type DestinationStream, type Logger as PinoLogger } from 'pino';
import { standardErrorOutput } from './log-output';

/** One line of JSON per message, on standard error. Causes of failures go here and nowhere else. */
export type Logger = PinoLogger;

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

export interface LoggerOptions {
  readonly level?: LogLevel;
  /** Where lines go; absent: standard error. */
  readonly destination?: DestinationStream;
}

export function createLogger({ level = 'info', destination }: LoggerOptions = {}): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: ['headers.authorization', '*.headers.authorization', 'token', '*.token'], censor: '[hidden]' },
    },
    destination ?? standardErrorOutput(),
  );
}

/** For tests, and for libraries that want silence. */
export const silentLogger: Logger = pino({ level: 'silent' });
