import { write, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { LogOutput } from './log-backend';

const writeAsync = promisify(write);
const STANDARD_OUTPUT = 1;
/** Between tries while the reader of a pipe takes nothing. */
const BUSY_WAIT_MS = 1;

/** Lines to standard output. Waits for a reader that is slow; with `writeLater`, requests do not. */
export function standardOutput(): LogOutput {
  const write = (text: string): void => {
    const bytes = Buffer.from(text);
    for (let written = 0; written < bytes.length;) written += writeSome(bytes, written);
  };
  const later = async (text: string): Promise<void> => {
    const bytes = Buffer.from(text);
    for (let written = 0; written < bytes.length;) written += await writeSomeLater(bytes, written);
  };
  return { write, writeLater: later, close: async () => undefined };
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

async function writeSomeLater(bytes: Buffer, from: number): Promise<number> {
  try {
    const { bytesWritten } = await writeAsync(STANDARD_OUTPUT, bytes, from, bytes.length - from);
    return bytesWritten;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    await delay(BUSY_WAIT_MS);
    return 0;
  }
}
