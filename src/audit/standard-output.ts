import { writeSync } from 'node:fs';
import type { LogOutput } from './log-backend';

const STANDARD_OUTPUT = 1;
/** Between tries while the reader of a pipe takes nothing. */
const BUSY_WAIT_MS = 1;

/** Lines to standard output. Waits for a reader that is slow. */
export function standardOutput(): LogOutput {
  const write = (text: string): void => {
    const bytes = Buffer.from(text);
    for (let written = 0; written < bytes.length;) written += writeSome(bytes, written);
  };
  return { write, writeLater: async (text) => write(text), close: async () => undefined };
}

function writeSome(bytes: Buffer, from: number): number {
  try {
    return writeSync(STANDARD_OUTPUT, bytes, from);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_WAIT_MS);
    return 0;
  }
}
