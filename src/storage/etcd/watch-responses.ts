import type { KeySpace } from './key-space';
import type { WatchEvent, WatchResponse } from './messages';
import { CompactedError, type Revision, type StoreEvent, type WatchBatch } from '../store';

/** Joins the responses to one watch into batches. */
export class WatchResponses {
  #fragments: StoreEvent[] = [];
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
   * What these responses complete, as one batch, so that followers wake once; undefined when it is nothing. Throws a
   * {@link CompactedError}, or an error with the server's reason when it cancelled the watch.
   */
  next(responses: readonly WatchResponse[]): WatchBatch | undefined {
    const events: StoreEvent[] = [];
    let isBatch = false;
    for (const response of responses) if (this.#take(response, events)) isBatch = true;
    return isBatch ? { revision: this.position, events } : undefined;
  }

  /** Adds the events that this response completes. Returns whether it moves the position. */
  #take(response: WatchResponse, events: StoreEvent[]): boolean {
    if (response.compactRevision > 0) throw new CompactedError(response.compactRevision);
    if (response.canceled) throw new Error(response.cancelReason || 'the server cancelled the watch');
    if (response.created) {
      this.#isCreated = true;
      return false;
    }
    for (const event of response.events) this.#fragments.push(this.#event(event));
    if (response.fragment) return false;
    const last = this.#fragments.at(-1);
    if (last === undefined) return this.#progress(response.revision);
    for (const event of this.#fragments) events.push(event);
    this.#fragments = [];
    // The header's revision may run ahead of the events, so a batch ends with its last event.
    this.position = last.revision;
    return true;
  }

  #progress(revision: Revision): boolean {
    if (!this.trustsProgress() || revision < this.position) return false;
    this.position = revision;
    return true;
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
