import { write, writeSync } from 'node:fs';

/** While lines cannot be written they are lost, and one of them tries anew this often. */
const RETRY_MS = 1_000;
/** A pipe or terminal that takes nothing for the moment is tried again this soon. */
const BUSY_RETRY_MS = 100;
/** What waits for a slow reader; beyond that, lines are lost. */
const MAX_PENDING_BYTES = 4 * 1024 * 1024;

export const STANDARD_ERROR = 2;

/** An open file; both may write less than all. */
export interface LogFile {
  write(bytes: Buffer, done: (error: NodeJS.ErrnoException | null, written: number) => void): void;
  writeSync(bytes: Buffer): number;
}

/** Where the log's lines go: written beside other work, and what goes wrong is remembered until a line gets through. */
export class LogOutput {
  readonly #file: LogFile;
  readonly #clock: () => number;
  #pending = '';
  /** What is being written, or waits because the file was busy. */
  #current: Buffer | undefined;
  #isBusy = false;
  #failure: Error | undefined;
  #flushesAtExit = false;
  #failedAt = 0;

  constructor(file: LogFile, clock: () => number = () => performance.now()) {
    this.#file = file;
    this.#clock = clock;
  }

  write(line: string): void {
    if (this.#failure !== undefined && this.#clock() - this.#failedAt < RETRY_MS) return;
    if (this.#pending.length + line.length > MAX_PENDING_BYTES) return;
    this.#pending += line;
    if (!this.#flushesAtExit) this.#flushAtExit();
    if (this.#current === undefined) this.#next();
  }

  /** Throws when the last lines could not be written. */
  readonly check = (): void => {
    if (this.#failure !== undefined) throw this.#failure;
  };

  /** Not before there is a line: runners of tests load this many times in a process, mostly for silence. */
  #flushAtExit(): void {
    this.#flushesAtExit = true;
    process.on('exit', () => this.flush());
  }

  /** Writes what is left, before the process ends; what is being written comes to its end by itself. */
  flush(): void {
    const waiting = Buffer.from(this.#pending);
    let rest = this.#isBusy && this.#current !== undefined ? Buffer.concat([this.#current, waiting]) : waiting;
    this.#pending = '';
    try {
      while (rest.length > 0) rest = rest.subarray(this.#file.writeSync(rest));
    } catch {
      // There is no reader left to tell.
    }
  }

  #next(): void {
    this.#current = Buffer.from(this.#pending);
    this.#pending = '';
    this.#writeCurrent(this.#current);
  }

  #writeCurrent(bytes: Buffer): void {
    this.#isBusy = false;
    this.#file.write(bytes, (error, written) => {
      if (error?.code === 'EAGAIN') {
        this.#isBusy = true;
        setTimeout(() => this.#writeCurrent(bytes), BUSY_RETRY_MS).unref();
        return;
      }
      this.#failure = error ?? undefined;
      this.#current = undefined;
      if (error !== null) {
        this.#failedAt = this.#clock();
        this.#pending = '';
        return;
      }
      if (written < bytes.length) {
        this.#current = bytes.subarray(written);
        this.#writeCurrent(this.#current);
      } else if (this.#pending !== '') this.#next();
    });
  }
}

let standardError: LogOutput | undefined;

/** The one of this process. */
export function standardErrorOutput(): LogOutput {
  if (standardError === undefined) {
    // By its number: the stream of that name would make a pipe non-blocking for others, too.
    standardError = new LogOutput({
      write: (bytes, done) => write(STANDARD_ERROR, bytes, done),
      writeSync: (bytes) => writeSync(STANDARD_ERROR, bytes),
    });
  }
  return standardError;
}
