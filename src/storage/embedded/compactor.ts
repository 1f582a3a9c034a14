import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Change, LmdbFile } from './database';
import type { EventFeed } from './event-feed';
import { lastRevisionBefore, readLog } from './reader';
import { encodeKey, encodeNumber, encodeOlderKey } from './records';
import type { GroupCommitWriter } from './writer';
import type { Revision } from '../store';

/** Writes whose traces are removed in one commit, and about how many bytes are read for that. */
const STEP = 256;
const STEP_BYTES = 1024 * 1024;

/**
 * Forgets history. A compaction is one small change of the state, after which reads behind it are refused; what it gave up
 * is then removed from the file in steps.
 */
export class Compactor {
  #scrubbing: Promise<void> | undefined;
  #closed = false;

  constructor(
    private readonly file: LmdbFile,
    private readonly feed: EventFeed,
    private readonly writer: GroupCommitWriter,
  ) {}

  /** Resolves when history before `revision` can no longer be read. Its space is freed later. */
  async compact(revision: Revision): Promise<void> {
    const { published } = this.feed;
    if (revision > published.revision) {
      throw new RangeError(`cannot compact revision ${revision}: the newest is ${published.revision}`);
    }
    if (revision > published.compacted) await this.writer.change([], { compacted: revision });
  }

  /** Compacts what was written before a time (milliseconds since 1970), and frees what earlier compactions gave up. */
  async compactBefore(time: number): Promise<void> {
    await this.compact(lastRevisionBefore(this.file.tables, this.feed.published, time));
    await this.scrub();
  }

  /** Removes what compactions gave up. */
  async scrub(): Promise<void> {
    this.#scrubbing ??= this.#scrubAll().finally(() => {
      this.#scrubbing = undefined;
    });
    await this.#scrubbing;
  }

  /** Stops between two steps. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#scrubbing;
  }

  async #scrubAll(): Promise<void> {
    while (!this.#closed && this.feed.published.scrubbed < this.feed.published.compacted) {
      const { scrubbed, compacted } = this.feed.published;
      const { log, older } = this.file.tables;
      const changes: Change[] = [];
      let last = scrubbed;
      let bytes = 0;
      let count = 0;
      for (const record of readLog(this.file.tables, scrubbed, compacted, STEP)) {
        if (record.previous !== undefined) {
          changes.push({ table: log, key: encodeNumber(record.previous), value: undefined });
          changes.push({ table: older, key: encodeOlderKey(encodeKey(record.key), record.previous), value: undefined });
        }
        if (record.type === 'delete')
          changes.push({ table: log, key: encodeNumber(record.revision), value: undefined });
        last = record.revision;
        count++;
        bytes += record.value.length;
        if (bytes >= STEP_BYTES) break;
      }
      const isAll = count < STEP && bytes < STEP_BYTES;
      await this.writer.change(changes, { scrubbed: isAll ? compacted : last });
      await nextTurn();
    }
  }
}
