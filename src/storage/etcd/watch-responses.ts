import type { KeySpace } from './key-space';
import type { WatchEvent, WatchResponse } from './messages';
import { CompactedError, type Revision, type StoreEvent, type WatchBatch } from '../store';

/** Joins the responses to one watch into batches. */
export class WatchResponses {
  #fragments: WatchEvent[] = [];
  #isCreated = false;

  constructor(
    private readonly keys: KeySpace,
    /** The revision up to which everything has been given out. */
    private position: Revision,
    /** Each event was asked for with what stood there before. */
    private readonly withPrevious: boolean,
    /** Whether the server's reports of progress can be relied upon. */
    private readonly trustsProgress: () => boolean,
  ) {}

  /** Whether the server has accepted the watch. */
  get isCreated(): boolean {
    return this.#isCreated;
  }

  /**
   * The batch that this response completes, if it does. Throws a {@link CompactedError}, or an error with the server's
   * reason when it cancelled the watch.
   */
  next(response: WatchResponse): WatchBatch | undefined {
    if (response.compactRevision > 0) throw new CompactedError(response.compactRevision);
    if (response.canceled) throw new Error(response.cancelReason || 'the server cancelled the watch');
    if (response.created) {
      this.#isCreated = true;
      return undefined;
    }
    this.#fragments.push(...response.events);
    if (response.fragment) return undefined;
    const events = this.#fragments;
    this.#fragments = [];
    return events.length > 0 ? this.#batch(events) : this.#progress(response.revision);
  }

  /** The header's revision may run ahead of the events, so a batch ends with its last event. */
  #batch(events: readonly WatchEvent[]): WatchBatch {
    this.position = events.at(-1)!.pair.modRevision;
    return { revision: this.position, events: events.map((event) => this.#event(event)) };
  }

  #progress(revision: Revision): WatchBatch | undefined {
    if (!this.trustsProgress() || revision < this.position) return undefined;
    this.position = revision;
    return { revision, events: [] };
  }

  #event({ isDelete, pair, previous: before }: WatchEvent): StoreEvent {
    const key = this.keys.fromEtcd(pair.key);
    const { value, modRevision: revision } = pair;
    const isCreate = !isDelete && pair.createRevision === revision;
    // etcd leaves out what was compacted between the event and its delivery.
    if (before === undefined && this.withPrevious && !isCreate) throw new CompactedError(revision);
    const previous = before && this.keys.storedValue(before);
    return isDelete ? { type: 'delete', key, revision, previous } : { type: 'put', key, value, revision, previous };
  }
}
