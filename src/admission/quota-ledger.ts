import { modified } from '../api/errors/status-error';
import type { MaybePromise } from '../api/maybe-promise';
import type { KubeObject } from '../api/object';
import { atOnce, isLarge, type Steps } from '../api/parts';
import type { QuotaEvaluator } from '../api/quota/evaluator';
import {
  formatResourceList,
  parseResourceList,
  subtractResources,
  type ResourceList,
} from '../api/quota/resource-list';
import { runSteps } from '../async/steps';
import type { QuotaStore } from '../resources/quota-store';
import type { Revision } from '../storage/store';
import type { AdmissionAttributes } from './plugin';
import { chargesOf, usedOf, usedWith, type Charge, type LimitedResource } from './quota-check';
import { takeTurns } from './webhooks/large-work';

/** A request that waits for its turn. */
interface Entry {
  readonly attributes: AdmissionAttributes;
  readonly evaluator: QuotaEvaluator;
  readonly settle: PromiseWithResolvers<readonly Charge[]>;
}

/** Charges to be given back. */
interface Refund {
  readonly charges: readonly Charge[];
  readonly settle: PromiseWithResolvers<void>;
}

interface PromiseWithResolvers<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

function withResolvers<T>(): PromiseWithResolvers<T> {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
}

/** An entry or a refund on its way through one batch. */
interface Pending<T extends Entry | Refund> {
  readonly of: T;
  /** Written already. */
  done: readonly Charge[];
}

/** One namespace's queue. At most one batch is under way. */
interface Book {
  entries: Entry[];
  refunds: Refund[];
  running: boolean;
  /** What this replica has written and memory may not show yet, by name. */
  readonly written: Map<string, KubeObject>;
}

/** Rounds of compare-and-put against other replicas before a request is told to come back. */
const MAX_ROUNDS = 30;
/** More than one, so that books are closed faster than they are opened. */
const BOOKS_TO_LOOK_AT = 2;

function revisionOf({ metadata }: KubeObject): Revision {
  return Number(metadata.resourceVersion ?? '0') as Revision;
}

function nameOf({ metadata }: KubeObject): string {
  return metadata.name ?? '';
}

/**
 * Charges requests to quotas so that all replicas together never admit more than a quota allows: usage is raised by
 * compare-and-put before the object is stored. Requests of one namespace that wait for a write under way are evaluated
 * together, one after the other, and written at once.
 */
export class QuotaLedger {
  readonly #store: QuotaStore;
  readonly #limited: readonly LimitedResource[];
  readonly #books = new Map<string, Book>();

  constructor(store: QuotaStore, limited: readonly LimitedResource[] = []) {
    this.#store = store;
    this.#limited = limited;
  }

  /** Raises the quotas that the request concerns, and says by how much. Throws 403 when one of them does not allow it. */
  charge(attributes: AdmissionAttributes, evaluator: QuotaEvaluator): MaybePromise<readonly Charge[]> {
    const { namespace } = attributes;
    if (this.#limited.length === 0 && !this.#store.hasAny(namespace)) return [];
    const settle = withResolvers<readonly Charge[]>();
    const book = this.#bookOf(namespace);
    book.entries.push({ attributes, evaluator, settle });
    this.#start(namespace, book);
    return settle.promise;
  }

  /** Gives back what {@link charge} has taken. */
  async refund(namespace: string, charges: readonly Charge[]): Promise<void> {
    if (charges.length === 0) return;
    const settle = withResolvers<void>();
    const book = this.#bookOf(namespace);
    book.refunds.push({ charges, settle });
    this.#start(namespace, book);
    return settle.promise;
  }

  #bookOf(namespace: string): Book {
    let book = this.#books.get(namespace);
    if (book === undefined) {
      book = { entries: [], refunds: [], running: false, written: new Map() };
      this.#books.set(namespace, book);
    }
    return book;
  }

  #start(namespace: string, book: Book): void {
    if (book.running) return;
    book.running = true;
    // `#runBatches` hands every failure to the requests that wait for it.
    void this.#runBatches(namespace, book);
  }

  async #runBatches(namespace: string, book: Book): Promise<void> {
    while (book.entries.length > 0 || book.refunds.length > 0) {
      const entries = book.entries.map((of): Pending<Entry> => ({ of, done: [] }));
      const refunds = book.refunds.map((of): Pending<Refund> => ({ of, done: [] }));
      book.entries = [];
      book.refunds = [];
      try {
        await this.#runBatch(namespace, book, entries, refunds);
      } catch (error) {
        for (const { of } of entries) of.settle.reject(error);
        for (const { of } of refunds) of.settle.reject(error);
      }
    }
    book.running = false;
    this.#forgetIdleBooks();
  }

  /** The newest state that this replica knows. */
  async #quotasOf(namespace: string, { written }: Book): Promise<readonly KubeObject[]> {
    // Before the list is taken: it has all that is forgotten here.
    this.#forgetKnown(written);
    const listed = await this.#store.list(namespace);
    return listed.map((quota) => written.get(nameOf(quota)) ?? quota);
  }

  #forgetKnown(written: Map<string, KubeObject>): void {
    for (const [name, quota] of written) {
      if (this.#store.knows(revisionOf(quota))) written.delete(name);
    }
  }

  /** Memory lags behind the end of a batch, so that a book is closed later, with the end of a batch of another namespace. */
  #forgetIdleBooks(): void {
    let left = BOOKS_TO_LOOK_AT;
    for (const [namespace, book] of this.#books) {
      this.#books.delete(namespace);
      // One that is at work has a list that may be older than what memory has by now.
      if (!book.running) this.#forgetKnown(book.written);
      // Last in the order, so that the next look is at others.
      if (book.running || book.written.size > 0) this.#books.set(namespace, book);
      if (--left === 0) return;
    }
  }

  async #runBatch(namespace: string, book: Book, entries: Pending<Entry>[], refunds: Pending<Refund>[]): Promise<void> {
    let quotas = await this.#quotasOf(namespace, book);
    for (let round = 1; (round === 1 || quotas.length > 0) && (entries.length > 0 || refunds.length > 0); round++) {
      const used = await inTurns(usedBy(quotas), quotas);
      const before = new Map(used);
      for (const { of, done } of refunds) await inTurns(release(of, done, used), quotas);
      const planned = new Map<Pending<Entry>, readonly Charge[]>();
      for (const entry of entries) {
        try {
          planned.set(entry, await this.#plan(entry.of, quotas, used, round === 1));
        } catch (error) {
          this.#giveUp(namespace, entry, error);
        }
      }
      const lost = await this.#write(book, quotas, used, before);
      const isLost = ({ quota }: Charge): boolean => lost.has(quota);
      entries = [...planned].flatMap(([entry, charges]) => {
        const done = [...entry.done, ...charges.filter((charge) => !isLost(charge))];
        if (charges.some(isLost)) return [{ ...entry, done }];
        entry.of.settle.resolve(done);
        return [];
      });
      refunds = refunds.flatMap((refund) => {
        const done = refund.of.charges.filter((charge) => refund.done.includes(charge) || !isLost(charge));
        if (done.length < refund.of.charges.length) return [{ ...refund, done }];
        refund.of.settle.resolve();
        return [];
      });
      quotas = [...lost.values()].filter((quota) => quota !== undefined);
      if (round === MAX_ROUNDS) break;
    }
    for (const entry of entries) {
      if (quotas.length === 0) entry.of.settle.resolve(entry.done);
      else this.#giveUp(namespace, entry, modified({ group: '', resource: 'resourcequotas' }, nameOf(quotas[0]!)));
    }
    for (const { of } of refunds) of.settle.resolve();
  }

  /** What the entry costs these quotas, taken down in `used`. Throws 403 when they do not allow it. */
  #plan(
    { attributes, evaluator }: Entry,
    quotas: readonly KubeObject[],
    used: Map<string, ResourceList>,
    allQuotas: boolean,
  ): MaybePromise<readonly Charge[]> {
    const limited = allQuotas ? this.#limited : [];
    function* plan(): Steps<readonly Charge[]> {
      const charges = yield* chargesOf(attributes, evaluator, quotas, limited);
      const after = new Map<string, ResourceList>();
      for (const charge of charges) {
        const quota = quotas.find((one) => nameOf(one) === charge.quota)!;
        after.set(charge.quota, yield* usedWith(attributes, quota, used.get(charge.quota) ?? new Map(), charge));
      }
      if (attributes.dryRun) return [];
      for (const [name, list] of after) used.set(name, list);
      return charges;
    }
    return takeTurns(attributes, plan(), quotas.map(usedOf), attributes.object, attributes.oldObject);
  }

  /** Writes the quotas whose usage has changed. Returns those that have changed meanwhile, as they are now. */
  async #write(
    book: Book,
    quotas: readonly KubeObject[],
    used: ReadonlyMap<string, ResourceList>,
    before: ReadonlyMap<string, ResourceList>,
  ): Promise<ReadonlyMap<string, KubeObject | undefined>> {
    const lost = new Map<string, KubeObject | undefined>();
    await Promise.all(
      quotas.map(async (quota) => {
        const name = nameOf(quota);
        const list = used.get(name);
        if (list === undefined || list === before.get(name)) return;
        const texts = await inTurns(formatResourceList(list), [quota]);
        const outcome = await this.#store.putUsed(quota, texts);
        if (outcome.ok) book.written.set(name, outcome.quota);
        else {
          book.written.delete(name);
          lost.set(name, outcome.current);
        }
      }),
    );
    return lost;
  }

  #giveUp(namespace: string, { of, done }: Pending<Entry>, error: unknown): void {
    // The client hears of its refusal now; what it was charged meanwhile goes back with the next batch.
    this.refund(namespace, done).catch(() => undefined);
    of.settle.reject(error);
  }
}

/** Work for all whose requests wait for these quotas, of which some may be large. */
function inTurns<Result>(work: Steps<Result>, quotas: readonly KubeObject[]): MaybePromise<Result> {
  return isLarge(quotas.map(usedOf)) ? runSteps(work, 'the quotas of a namespace') : atOnce(work);
}

function* usedBy(quotas: readonly KubeObject[]): Steps<Map<string, ResourceList>> {
  const used = new Map<string, ResourceList>();
  for (const quota of quotas) used.set(nameOf(quota), yield* parseResourceList(usedOf(quota)));
  return used;
}

function* release({ charges }: Refund, done: readonly Charge[], used: Map<string, ResourceList>): Steps<void> {
  for (const charge of charges) {
    const list = used.get(charge.quota);
    if (list === undefined || done.includes(charge)) continue;
    used.set(charge.quota, yield* subtractResources(list, charge.amounts));
  }
}
