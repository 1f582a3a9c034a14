import type { JsonObject, JsonValue } from '../object';
import { elementOf } from './item-element';
import { jsonEqual } from '../patch/json-equal';
import { EMPTY_SET, FieldSetBuilder, type FieldSet } from './field-set';
import { areSameItems, itemsByElement, refuseTwins, type Duplicates } from './list-items';
import {
  isEmptyList,
  isEmptyMap,
  isEmptyObject,
  isList,
  isListOrNull,
  isMapOrNull,
  isObject,
  memberOf,
} from './members';
import { ANY_MAP, memberType, TypedError, type ListMergeType, type MapMergeType, type MergeType } from './merge-type';
import { fieldElement, printPath, type PathElement } from './path-element';
import { everything } from './value-sets';

/** Undefined stands for a value that is not there; null is a value. */
type Maybe = JsonValue | undefined;

export interface Comparison {
  readonly added: FieldSet;
  readonly removed: FieldSet;
  readonly modified: FieldSet;
}

export function isSame({ added, removed, modified }: Comparison): boolean {
  return added === EMPTY_SET && removed === EMPTY_SET && modified === EMPTY_SET;
}

/** Which fields of an object a write adds, removes and changes. Subtrees that both sides share are not walked. */
export function compare(
  type: MergeType,
  before: JsonValue,
  after: JsonValue,
  duplicates: Duplicates = 'joined',
): Comparison {
  const walker = new Comparer(duplicates);
  walker.walk(type, before, after);
  return { added: walker.added.build(), removed: walker.removed.build(), modified: walker.modified.build() };
}

class Comparer {
  readonly added = new FieldSetBuilder();
  readonly removed = new FieldSetBuilder();
  readonly modified = new FieldSetBuilder();
  /** Where the walk is: names of members, and items of lists, whose elements are built only for what changed. */
  private readonly steps: JsonValue[] = [];
  /** Beside each step: the type of the list of which it is an item. */
  private readonly lists: (ListMergeType | undefined)[] = [];
  /** The elements of the first steps, as far as they were needed: many changes may lie below one step. */
  private readonly elements: PathElement[] = [];

  constructor(private readonly duplicates: Duplicates) {}

  walk(type: MergeType, before: Maybe, after: Maybe): void {
    if (before === after) return;
    if (before === undefined) this.added.addTree(this.path(), everything(type, after as JsonValue, this.duplicates));
    else if (after === undefined) this.removed.addTree(this.path(), everything(type, before, this.duplicates));
    else this.walkBoth(type, before, after);
  }

  private walkBoth(type: MergeType, before: JsonValue, after: JsonValue): void {
    switch (type.kind) {
      case 'scalar':
        this.leaf(before, after);
        return;
      case 'map':
        if (!isMapOrNull(before) || !isMapOrNull(after)) throw this.misfit('map');
        if (type.atomic || (isEmptyMap(before) && isEmptyMap(after))) this.leaf(before, after);
        else this.walkEntries(type, isObject(before) ? before : {}, isObject(after) ? after : {});
        return;
      case 'list':
        if (!isListOrNull(before) || !isListOrNull(after)) throw this.misfit('list');
        if (type.relation === 'atomic' || (isEmptyList(before) && isEmptyList(after))) this.leaf(before, after);
        else this.walkList(type, isList(before) ? before : [], isList(after) ? after : []);
        return;
      case 'any':
        if (type.atomic) this.leaf(before, after);
        else this.walkAny(before, after);
        return;
    }
  }

  /** A value may change its shape where no schema says what it is: then the old content goes and another leaf comes. */
  private walkAny(before: JsonValue, after: JsonValue): void {
    const old = isObject(before) ? before : {};
    const fresh = isObject(after) ? after : {};
    if (!isEmptyObject(old) || !isEmptyObject(fresh)) this.walkEntries(ANY_MAP, old, fresh);
    const alike = (isObject(before) || before === null) && (isObject(after) || after === null);
    if (!alike || (isEmptyObject(old) && isEmptyObject(fresh))) this.leaf(before, after);
  }

  private walkEntries(type: MapMergeType, before: JsonObject, after: JsonObject): void {
    for (const name in before) {
      const old = before[name];
      if (old !== undefined) this.walkMember(type, name, old, memberOf(after, name));
    }
    for (const name in after) {
      const fresh = after[name];
      if (fresh !== undefined && memberOf(before, name) === undefined) this.walkMember(type, name, undefined, fresh);
    }
  }

  private walkMember(type: MapMergeType, name: string, before: Maybe, after: Maybe): void {
    if (before === after) return;
    this.enter(name, undefined);
    this.walk(memberType(type, name), before, after);
    this.leave();
  }

  private walkList(type: ListMergeType, before: readonly JsonValue[], after: readonly JsonValue[]): void {
    if (areSameItems(type, before, after)) {
      for (let i = 0; i < before.length; i++) this.walkItem(type, before[i] as JsonValue, before[i], after[i]);
      return;
    }
    const old = itemsByElement(type, before);
    const fresh = itemsByElement(type, after);
    refuseTwins(this.duplicates, old, before);
    refuseTwins(this.duplicates, fresh, after);
    for (const [element, items] of old) this.walkTwins(type, items, fresh.get(element));
    for (const [element, items] of fresh) if (!old.has(element)) this.walkTwins(type, undefined, items);
  }

  private walkItem(type: ListMergeType, item: JsonValue, before: Maybe, after: Maybe): void {
    if (before === after) return;
    this.enter(item, type);
    this.walk(type.items, before, after);
    this.leave();
  }

  /** Items that share a name cannot be told apart, so they are compared as one leaf. */
  private walkTwins(
    type: ListMergeType,
    before: readonly JsonValue[] | undefined,
    after: readonly JsonValue[] | undefined,
  ): void {
    const item = (before ?? after)?.[0] as JsonValue;
    const single = (before?.length ?? 1) === 1 && (after?.length ?? 1) === 1;
    if (single || before === undefined || after === undefined) {
      this.walkItem(type, item, before?.[0], after?.[0]);
      return;
    }
    this.enter(item, type);
    this.leaf(before, after);
    this.leave();
  }

  private leaf(before: JsonValue, after: JsonValue): void {
    if (!jsonEqual(before, after)) this.modified.add(this.path());
  }

  private enter(step: JsonValue, list: ListMergeType | undefined): void {
    this.steps.push(step);
    this.lists.push(list);
  }

  private leave(): void {
    this.steps.pop();
    this.lists.pop();
    const depth = this.steps.length;
    if (this.elements.length <= depth) return;
    this.elements.length = depth;
    this.added.back(depth);
    this.removed.back(depth);
    this.modified.back(depth);
  }

  /** Where the walk is. For use before its next step only. */
  private path(): readonly PathElement[] {
    const { elements, steps, lists } = this;
    for (let depth = elements.length; depth < steps.length; depth += 1) {
      const list = lists[depth];
      const step = steps[depth] as JsonValue;
      elements.push(list === undefined ? fieldElement(step as string) : elementOf(list, step));
    }
    return elements;
  }

  private misfit(expected: string): TypedError {
    return new TypedError([{ path: printPath(this.path()), message: `expected ${expected}` }]);
  }
}
