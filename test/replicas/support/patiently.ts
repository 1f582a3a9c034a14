/** Longer than a client of etcd pauses between two attempts to connect. */
const PATIENCE_MS = 20_000;

/** What the test itself asks a store that was away: the store may be back before the test's own connection to it is. */
export async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
