import type { JsonValue } from '../object';
import { sortedJson } from '../sorted-json';

/**
 * Where in a list the first item of each identity stands. Identities that are maps or lists are found by their text, so that
 * finding one of thousands never compares it with the others.
 */
export class IdentityPlaces {
  private readonly scalars = new Map<JsonValue, number>();
  private readonly containers = new Map<string, number>();

  /** Notes that an item with this identity stands there, unless one stands before it or the item has none. */
  note(identity: JsonValue | undefined, index: number): void {
    if (identity === undefined) return;
    if (typeof identity === 'object' && identity !== null) {
      const text = sortedJson(identity);
      if (!this.containers.has(text)) this.containers.set(text, index);
    } else if (!this.scalars.has(identity)) this.scalars.set(identity, index);
  }

  /** -1: there is none. */
  placeOf(identity: JsonValue | undefined): number {
    if (identity === undefined) return -1;
    if (typeof identity !== 'object' || identity === null) return this.scalars.get(identity) ?? -1;
    return this.containers.size === 0 ? -1 : (this.containers.get(sortedJson(identity)) ?? -1);
  }
}
