/** What may wait in a {@link FairQueue}, in a unit of the caller's choice. */
export interface FairQueueLimits {
  readonly perOwner: number;
  readonly total: number;
}

const UNLIMITED: FairQueueLimits = { perOwner: Infinity, total: Infinity };

interface Waiting<T> {
  readonly item: T;
  readonly weight: number;
}

/** What one owner waits for, in the order in which it came. */
interface OwnQueue<T> {
  readonly items: Waiting<T>[];
  weight: number;
}

/**
 * A queue in which owners take turns: one who brings a hundred items waits for them alone, and another's first item
 * comes after one of theirs. An owner without items leaves no trace.
 */
export class FairQueue<T> {
  /** In the order of their turns: an owner whose item is taken goes to the end. */
  private readonly owners = new Map<unknown, OwnQueue<T>>();
  private totalWeight = 0;
  private items = 0;

  constructor(
    private readonly limits = UNLIMITED,
    /** Whose turn it is brings what it brought last. */
    private readonly isNewestFirst = false,
  ) {}

  get length(): number {
    return this.items;
  }

  get weight(): number {
    return this.totalWeight;
  }

  /** False: there is no room for it. One that is alone always has room. */
  push(owner: unknown, item: T, weight = 1): boolean {
    const queue = this.owners.get(owner);
    const own = queue?.weight ?? 0;
    if (this.items > 0 && this.totalWeight + weight > this.limits.total) return false;
    if (own > 0 && own + weight > this.limits.perOwner) return false;
    this.totalWeight += weight;
    this.items += 1;
    if (queue === undefined) this.owners.set(owner, { items: [{ item, weight }], weight });
    else {
      queue.items.push({ item, weight });
      queue.weight += weight;
    }
    return true;
  }

  /** What `shift` would take. */
  peek(mayTake?: (owner: unknown, item: T) => boolean): T | undefined {
    for (const [owner, { items }] of this.owners) {
      const first = this.isNewestFirst ? items.at(-1) : items[0];
      if (first !== undefined && mayTake?.(owner, first.item) !== false) return first.item;
    }
    return undefined;
  }

  /** The first item of the owner whose turn it is; those whose first item may not be taken are passed over and keep their turns. */
  shift(mayTake?: (owner: unknown, item: T) => boolean): T | undefined {
    for (const [owner, queue] of this.owners) {
      const head = this.isNewestFirst ? queue.items.at(-1) : queue.items[0];
      if (head !== undefined && mayTake?.(owner, head.item) === false) continue;
      this.owners.delete(owner);
      const first = this.isNewestFirst ? queue.items.pop() : queue.items.shift();
      if (first === undefined) continue;
      if (queue.items.length > 0) this.owners.set(owner, queue);
      this.subtract(queue, first.weight);
      return first.item;
    }
    return undefined;
  }

  /** Takes an item out that is not waited for any more. False: it is not there. */
  remove(owner: unknown, item: T): boolean {
    const queue = this.owners.get(owner);
    const index = queue?.items.findIndex((waiting) => waiting.item === item) ?? -1;
    const [removed] = index < 0 ? [] : (queue?.items.splice(index, 1) ?? []);
    if (queue === undefined || removed === undefined) return false;
    if (queue.items.length === 0) this.owners.delete(owner);
    this.subtract(queue, removed.weight);
    return true;
  }

  /** Takes all out that an owner brought: the owner is not there any more. */
  leave(owner: unknown): readonly T[] {
    const queue = this.owners.get(owner);
    if (queue === undefined) return [];
    this.owners.delete(owner);
    this.totalWeight -= queue.weight;
    this.items -= queue.items.length;
    return queue.items.map(({ item }) => item);
  }

  private subtract(queue: OwnQueue<T>, weight: number): void {
    queue.weight -= weight;
    this.totalWeight -= weight;
    this.items -= 1;
  }
}
