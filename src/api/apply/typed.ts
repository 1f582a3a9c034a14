import { extend } from '../extend';
import type { JsonObject, JsonValue } from '../object';
import { jsonEqual } from '../patch/json-equal';
import { EMPTY_SET, FieldSetBuilder, LEAF, makeSet, type FieldSet } from './field-set';
import { isEmptyObject, isList, isObject, memberOf, setMember } from './members';
import {
  ANY_MAP,
  isSameItem,
  itemElement,
  itemsByElement,
  TypedError,
  type ListMergeType,
  type MapMergeType,
  type MergeType,
} from './merge-type';
import { fieldElement, printElement, printPath, type PathElement } from './path-element';

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

/** Every leaf of an object, and every list item and map entry: what a manager owns that applies exactly this object. */
export function toFieldSet(type: MergeType, value: JsonValue): FieldSet {
  switch (type.kind) {
    case 'scalar':
      return LEAF;
    case 'any':
      if (type.atomic) return LEAF;
      if (isObject(value)) return mapFieldSet(ANY_MAP, value);
      return value === null ? EMPTY_SET : LEAF;
    case 'map':
      if (type.atomic) return LEAF;
      return isObject(value) ? mapFieldSet(type, value) : EMPTY_SET;
    case 'list': {
      if (type.relation === 'atomic') return LEAF;
      if (!isList(value)) return EMPTY_SET;
      const children = new Map<PathElement, FieldSet>();
      for (const [element, twins] of itemsByElement(type, value)) {
        children.set(element, makeSet(true, toFieldSet(type.items, twins[0] as JsonValue).children));
      }
      return makeSet(false, children);
    }
  }
}

function mapFieldSet(type: MapMergeType, value: JsonObject): FieldSet {
  const children = new Map<PathElement, FieldSet>();
  for (const name in value) {
    const member = value[name];
    if (member === undefined) continue;
    const set = toFieldSet(memberType(type, name), member);
    const empty = member === null || (isObject(member) && isEmptyObject(member));
    const owned = set.member || !type.isField(name) || (empty && type.ownsEmpty(name));
    if (owned || set.children.size > 0) children.set(fieldElement(name), makeSet(owned, set.children));
  }
  return makeSet(false, children);
}

function memberType(type: MapMergeType, name: string): MergeType {
  const found = type.typeOf(name);
  if (found === undefined) throw new TypedError([{ path: `.${name}`, message: 'field not declared in schema' }]);
  return found;
}

function isEmptyMap(value: Maybe): boolean {
  return !isObject(value) || isEmptyObject(value);
}

function isMapOrNull(value: JsonValue): boolean {
  return value === null || isObject(value);
}

function isListOrNull(value: JsonValue): boolean {
  return value === null || isList(value);
}

function isEmptyList(value: Maybe): boolean {
  return !isList(value) || value.length === 0;
}

/**
 * Items of one list that share a name: `joined`, they are one leaf; `refused`, where they have to be told apart a
 * TypedError is thrown.
 */
export type Duplicates = 'joined' | 'refused';

/** Whether the lists have items of the same names in the same places; false when in doubt. */
function areSameItems(type: ListMergeType, left: readonly JsonValue[], right: readonly JsonValue[]): boolean {
  if (left.length !== right.length) return false;
  for (let i = 0; i < left.length; i++) {
    if (!isSameItem(type, left[i] as JsonValue, right[i] as JsonValue)) return false;
  }
  return true;
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

function elementOf(type: ListMergeType, item: JsonValue): PathElement {
  const element = itemElement(type, item);
  if (element instanceof Error) throw new TypedError([{ path: '', message: element.message }]);
  return element;
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

function refuseTwins(
  duplicates: Duplicates,
  byElement: ReadonlyMap<PathElement, readonly JsonValue[]>,
  items: readonly JsonValue[],
): void {
  if (duplicates === 'joined' || byElement.size === items.length) return;
  for (const [element, { length }] of byElement) {
    if (length > 1) throw new TypedError([{ path: '', message: `duplicate entries for key ${printElement(element)}` }]);
  }
}

/** All paths of a value that comes or goes: its leaves, and every map and list that holds something. */
export function everything(type: MergeType, value: JsonValue, duplicates: Duplicates): FieldSet {
  switch (type.kind) {
    case 'scalar':
      return LEAF;
    case 'any':
      return !type.atomic && isObject(value) ? everyMember(ANY_MAP, value, duplicates) : LEAF;
    case 'map':
      if (value !== null && !isObject(value)) throw new TypedError([{ path: '', message: 'expected map' }]);
      return type.atomic || value === null ? LEAF : everyMember(type, value, duplicates);
    case 'list': {
      if (value !== null && !isList(value)) throw new TypedError([{ path: '', message: 'expected list' }]);
      if (type.relation === 'atomic' || value === null) return LEAF;
      const children = new Map<PathElement, FieldSet>();
      const byElement = itemsByElement(type, value);
      refuseTwins(duplicates, byElement, value);
      for (const [element, twins] of byElement) {
        children.set(element, everything(type.items, twins[0] as JsonValue, duplicates));
      }
      return makeSet(true, children);
    }
  }
}

function everyMember(type: MapMergeType, value: JsonObject, duplicates: Duplicates): FieldSet {
  const children = new Map<PathElement, FieldSet>();
  for (const name in value) {
    const member = value[name];
    if (member !== undefined) children.set(fieldElement(name), everything(memberType(type, name), member, duplicates));
  }
  return makeSet(true, children);
}

/**
 * The live value with an applied configuration laid over it. Items keep their place in the live list; new ones follow in
 * the order of the configuration. Parts that the configuration does not change are those of the live value, the whole of
 * it included.
 */
export function merge(type: MergeType, live: Maybe, applied: Maybe): Maybe {
  if (applied === undefined) return live;
  if (live === undefined) return applied;
  switch (type.kind) {
    case 'scalar':
      return applied;
    case 'any':
      if (type.atomic || !isObject(live) || !(isObject(applied) || applied === null)) return replace(live, applied);
      return mergeMaps(ANY_MAP, live, applied);
    case 'map':
      return type.atomic ? replace(live, applied) : mergeMaps(type, live, applied);
    case 'list':
      return type.relation === 'atomic' ? replace(live, applied) : mergeLists(type, live, applied);
  }
}

function replace(live: JsonValue, applied: JsonValue): JsonValue {
  return jsonEqual(live, applied) ? live : applied;
}

function mergeMaps(type: MapMergeType, live: JsonValue, applied: JsonValue): JsonValue {
  if (isEmptyMap(applied)) return isEmptyMap(live) ? applied : live;
  if (!isObject(live)) return applied;
  let result: Record<string, JsonValue> | undefined;
  for (const name in applied as JsonObject) {
    const before = memberOf(live, name);
    const value = merge(memberType(type, name), before, (applied as JsonObject)[name]);
    if (value !== undefined && value !== before)
      setMember((result ??= extend(live) as Record<string, JsonValue>), name, value);
  }
  return result ?? live;
}

function mergeLists(type: ListMergeType, live: JsonValue, applied: JsonValue): JsonValue {
  if (!isList(applied) || applied.length === 0) return isEmptyList(live) ? applied : live;
  if (!isList(live)) return applied;
  if (areSameItems(type, live, applied)) {
    const items = live.map((item, i) => merge(type.items, item, applied[i]) as JsonValue);
    return items.every((item, i) => item === live[i]) ? live : items;
  }
  const wanted = itemsByElement(type, applied);
  const placed = new Set<PathElement>();
  const result: JsonValue[] = [];
  for (const item of live) {
    const element = itemElement(type, item);
    const overlay = element instanceof Error ? undefined : wanted.get(element)?.[0];
    if (element instanceof Error || overlay === undefined) {
      result.push(item);
      continue;
    }
    if (placed.has(element)) continue;
    placed.add(element);
    result.push(merge(type.items, item, overlay) as JsonValue);
  }
  for (const [element, items] of wanted) if (!placed.has(element)) result.push(items[0] as JsonValue);
  return result;
}

/** The value without the fields and items in the set; a list or map that lost all it held goes with them. */
export function removeItems(type: MergeType, value: JsonValue, set: FieldSet): Maybe {
  switch (type.kind) {
    case 'scalar':
      return value;
    case 'any':
    case 'map':
      if (!isObject(value) || isEmptyObject(value) || type.atomic) return value;
      return removeFromMap(type.kind === 'any' ? ANY_MAP : type, value, set);
    case 'list': {
      if (!isList(value) || value.length === 0 || type.relation === 'atomic') return value;
      const result: JsonValue[] = [];
      for (const item of value) {
        const element = itemElement(type, item);
        const below = element instanceof Error ? undefined : set.children.get(element);
        if (below?.member === true) continue;
        const rest = below === undefined ? item : removeItems(type.items, item, below);
        if (rest !== undefined) result.push(rest);
      }
      return result.length === 0 ? undefined : result;
    }
  }
}

function removeFromMap(type: MapMergeType, value: JsonObject, set: FieldSet): Maybe {
  const result: Record<string, JsonValue> = {};
  let kept = 0;
  for (const name in value) {
    const member = value[name];
    if (member === undefined) continue;
    const below = set.children.get(fieldElement(name));
    if (below?.member === true) continue;
    const rest = below === undefined ? member : removeItems(memberType(type, name), member, below);
    if (rest === undefined) continue;
    setMember(result, name, rest);
    kept++;
  }
  return kept === 0 ? undefined : result;
}
