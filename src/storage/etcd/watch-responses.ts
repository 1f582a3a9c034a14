import type { IWatchResponse } from 'etcd3';
import { toRevision, type KeySpace } from './key-space';
import { CompactedError, type Revision, type StoreEvent, type WatchBatch } from '../store';

type EtcdEvent = IWatchResponse['events'][number];

/** Joins the responses to one watch into batches. */
export class WatchResponses {
  #fragments: EtcdEvent[] = [];
  #isCreated = false;

  constructor(
    private readonly keys: KeySpace,
    /** The revision up to which everything has been given out. */
    private position: Revision,
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
  next(response: IWatchResponse): WatchBatch | undefined {
    const compacted = toRevision(response.compact_revision);
    if (compacted > 0) throw new CompactedError(compacted);
    if (response.canceled) throw new Error(response.cancel_reason || 'the server cancelled the watch');
    if (response.created) {
      this.#isCreated = true;
      return undefined;
    }
    this.#fragments.push(...response.events);
    if (response.fragment) return undefined;
    const events = this.#fragments;
    this.#fragments = [];
    return events.length > 0 ? this.#batch(events) : this.#progress(toRevision(response.header.revision));
  }

  /** The header's revision may run ahead of the events, so a batch ends with its last event. */
  #batch(events: readonly EtcdEvent[]): WatchBatch {
    this.position = toRevision(events.at(-1)!.kv.mod_revision);
    return { revision: this.position, events: events.map((event) => this.#event(event)) };
  }

  #progress(revision: Revision): WatchBatch | undefined {
    if (!this.trustsProgress() || revision < this.position) return undefined;
    this.position = revision;
    return { revision, events: [] };
  }

  #event({ type, kv, prev_kv: before }: EtcdEvent): StoreEvent {
    const key = this.keys.fromEtcd(kv.key);
    const revision = toRevision(kv.mod_revision);
    // etcd3's type says that enumerators are numbers; its messages name them.
    const isDelete = (type as unknown as string) === 'Delete';
    const isCreate = !isDelete && kv.create_revision === kv.mod_revision;
    if (isCreate) return { type: 'put', key, value: kv.value, revision, previous: undefined };
    // etcd leaves out what was compacted between the event and its delivery.
    if (!before) throw new CompactedError(revision);
    const previous = this.keys.storedValue(before);
    return isDelete
      ? { type: 'delete', key, revision, previous }
      : { type: 'put', key, value: kv.value, revision, previous };
  }
}
