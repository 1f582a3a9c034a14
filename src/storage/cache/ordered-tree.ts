import BTree from 'sorted-btree';
import { bulkLoad } from 'sorted-btree/extended/bulkLoad';
import { byteOrdered, endOfPrefix } from './key-order';

/** Small nodes: a write after a clone copies one node per level. */
const NODE_SIZE = 32;

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A subtree as sorted-btree lays it out: an inner node's `keys[i]` is the greatest key of `children[i]`. */
interface TreeNode {
  readonly keys: readonly string[];
  readonly children?: readonly TreeNode[];
  size(): number;
}

/** A map from store keys to values in the store's order, which is cloned in constant time and copied on write. */
export class OrderedTree<T> {
  private constructor(private readonly tree: BTree<string, T>) {}

  static empty<T>(): OrderedTree<T> {
    return new OrderedTree(new BTree<string, T>(undefined, compare, NODE_SIZE));
  }

  /** From keys in the store's order without duplicates. */
  static fromSorted<T>(keys: readonly string[], values: readonly T[]): OrderedTree<T> {
    return new OrderedTree(bulkLoad<string, T>(keys.map(byteOrdered), [...values], NODE_SIZE, compare, 0.8));
  }

  get size(): number {
    return this.tree.size;
  }

  get(key: string): T | undefined {
    return this.tree.get(byteOrdered(key));
  }

  set(key: string, value: T): void {
    this.tree.set(byteOrdered(key), value);
  }

  delete(key: string): void {
    this.tree.delete(byteOrdered(key));
  }

  /** Later changes of either do not show in the other. */
  clone(): OrderedTree<T> {
    return new OrderedTree(this.tree.clone());
  }

  /** How many values have keys that begin with `prefix` and are not below `start`. O(log n). */
  count(prefix: string, start?: string): number {
    const { low, end } = bounds(prefix, start);
    return Math.max(0, this.rank(end) - this.rank(low));
  }

  /** The values whose keys begin with `prefix`, in order, from `start` on. Not to be continued after a change. */
  range(prefix: string, start?: string): Iterable<T> {
    const { low, end } = bounds(prefix, start);
    // Counting once saves a comparison per value.
    const count = this.rank(end) - this.rank(low);
    return { [Symbol.iterator]: () => new FirstValues(this.tree.entries(low, []), Math.max(0, count)) };
  }

  /**
   * How many keys are below `key`; all for undefined. The library keeps subtree sizes but does not offer ranks: walking
   * its nodes makes the count of what remains after a page O(log n) instead of O(n).
   */
  private rank(key: string | undefined): number {
    if (key === undefined) return this.tree.size;
    let node: TreeNode = (this.tree as unknown as { readonly _root: TreeNode })._root;
    let rank = 0;
    for (;;) {
      const index = lowerBound(node.keys, key);
      if (node.children === undefined) return rank + index;
      for (let i = 0; i < index; i++) rank += (node.children[i] as TreeNode).size();
      const child = node.children[index];
      if (child === undefined) return rank;
      node = child;
    }
  }
}

function bounds(prefix: string, start: string | undefined): { low: string; end: string | undefined } {
  const first = byteOrdered(prefix);
  const from = start === undefined ? first : byteOrdered(start);
  return { low: from > first ? from : first, end: endOfPrefix(first) };
}

function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

class FirstValues<T> implements IterableIterator<T> {
  constructor(
    private readonly entries: Iterator<[string, T]>,
    private left: number,
  ) {}

  next(): IteratorResult<T> {
    if (this.left <= 0) return { done: true, value: undefined };
    this.left--;
    const step = this.entries.next();
    return step.done === true ? { done: true, value: undefined } : { done: false, value: step.value[1] };
  }

  [Symbol.iterator](): this {
    return this;
  }
}
