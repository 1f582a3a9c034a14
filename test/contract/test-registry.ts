import { randomUUID } from 'node:crypto';
import type { ListOutcome, Revision, Store, StoreEvent, WriteOutcome } from '../../src/storage/store';
import { WatchRecorder } from './watch-recorder';

/** The keys below a root that no other test has, so that tests can share one store. */
export interface TestRegistry {
  readonly store: Store;
  readonly root: string;
  /** These three take a key without the root, and throw when the compare fails. */
  readonly create: (key: string, value?: string) => Promise<Revision>;
  readonly update: (key: string, value: string, expected: Revision) => Promise<Revision>;
  readonly remove: (key: string, expected: Revision) => Promise<Revision>;
  /** Watches what is below a prefix within the root. */
  readonly record: (prefix: string, after: Revision) => WatchRecorder;
  /** The listed keys without the root. */
  readonly namesOf: (outcome: SuccessfulList) => readonly string[];
  /** An event in one line: "7 put a=two was one@5". */
  readonly summary: (event: StoreEvent) => string;
}

type SuccessfulList = ListOutcome & { ok: true };

export function newTestRegistry(store: Store): TestRegistry {
  const root = `/${randomUUID()}/`;
  return {
    store,
    root,
    create: (key, value = key) => revisionOf(store.create(root + key, bytes(value))),
    update: (key, value, expected) => revisionOf(store.update(root + key, bytes(value), expected)),
    remove: (key, expected) => revisionOf(store.delete(root + key, expected)),
    record: (prefix, after) => new WatchRecorder(store, root + prefix, after),
    namesOf: (outcome) => outcome.items.map((item) => item.key.slice(root.length)),
    summary: (event) => {
      const value = event.type === 'put' ? `=${event.value.toString()}` : '';
      const previous =
        event.previous === undefined ? '' : ` was ${event.previous.value.toString()}@${event.previous.revision}`;
      return `${event.revision} ${event.type} ${event.key.slice(root.length)}${value}${previous}`;
    },
  };
}

export const bytes = (text: string): Buffer => Buffer.from(text);

export async function revisionOf(write: Promise<WriteOutcome>): Promise<Revision> {
  const outcome = await write;
  if (!outcome.ok) throw new Error('the write failed its compare');
  return outcome.revision;
}

export async function listed(list: Promise<ListOutcome>): Promise<SuccessfulList> {
  const outcome = await list;
  if (!outcome.ok) throw new Error(`the list was refused: ${outcome.reason}`);
  return outcome;
}
