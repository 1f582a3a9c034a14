import { bytesOf, type Tables } from './database';
import { decodeExpiryKey, decodeRevision, encodeNumber } from './records';
import type { GroupCommitWriter } from './writer';

const MAX_KEYS_PER_STEP = 256;

/** Deletes the keys whose time has come, unless they are written meanwhile. `now` in milliseconds since 1970. */
export async function deleteExpired(tables: Tables, writer: GroupCommitWriter, now: number): Promise<void> {
  for (;;) {
    const range = { end: encodeNumber(now + 1), limit: MAX_KEYS_PER_STEP };
    const expired = [...tables.expiry.getRange(range)].map(({ key, value }) => ({
      key: decodeExpiryKey(bytesOf(key)).key.toString(),
      revision: decodeRevision(bytesOf(value)),
    }));
    await Promise.all(expired.map(({ key, revision }) => writer.write({ key, value: undefined, expected: revision })));
    if (expired.length < MAX_KEYS_PER_STEP) return;
  }
}
