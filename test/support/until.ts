import { StatusError } from '../../src/api/errors/status-error';

/** Reads again and again until the value is good; failures count as no value. Throws after `seconds`. */
export async function until<T>(read: () => Promise<T>, good: (value: T) => boolean, seconds = 20): Promise<T> {
  for (const end = Date.now() + seconds * 1000; ;) {
    const value = await read().catch(() => undefined);
    if (value !== undefined && good(value)) return value;
    if (Date.now() > end) throw new Error(`it did not happen: ${JSON.stringify(value)}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** Whether what is read is there: false for a 404. */
export async function exists(read: () => Promise<unknown>): Promise<boolean> {
  try {
    await read();
    return true;
  } catch (error) {
    if (error instanceof StatusError && error.status.code === 404) return false;
    throw error;
  }
}
