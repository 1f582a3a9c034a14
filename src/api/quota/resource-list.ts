import { setMember } from '../apply/members';
import { keysOf, PART_VALUES, rememberKeys, type Steps } from '../parts';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  subtractQuantities,
  type Quantity,
} from '../quantity/quantity';
import { isPauseDue } from '../steps/pace';

/** Amounts by resource name, as a quota's `hard` and `used` have them: tens of thousands where somebody wants to. */
export type ResourceList = ReadonlyMap<string, Quantity>;

/** Sorted where they are few. */
export function inOrder(names: readonly string[]): readonly string[] {
  return names.length > PART_VALUES ? names : names.toSorted();
}

export function* parseResourceList(texts: Readonly<Record<string, string>> = {}): Steps<ResourceList> {
  const list = new Map<string, Quantity>();
  for (const name of keysOf(texts)) {
    if (isPauseDue()) yield;
    list.set(name, parseQuantity(texts[name]!));
  }
  return list;
}

export function* formatResourceList(list: ResourceList): Steps<Readonly<Record<string, string>>> {
  const texts: Record<string, string> = {};
  const names: string[] = [];
  for (const [name, quantity] of list) {
    if (isPauseDue()) yield;
    setMember(texts, name, formatQuantity(quantity));
    names.push(name);
  }
  rememberKeys(texts, names);
  return texts;
}

/** `limits.memory=1Gi,pods=3`: as messages show them. */
export function* printResourceList(list: ResourceList): Steps<string> {
  const shown: string[] = [];
  for (const name of inOrder([...list.keys()])) {
    if (isPauseDue()) yield;
    shown.push(`${name}=${formatQuantity(list.get(name)!)}`);
  }
  return shown.join(',');
}

/** As messages list the names: `limits.memory,pods`. */
export function printNames(names: readonly string[]): string {
  return inOrder(names).join(',');
}

/** The amounts of these names only. */
export function* pickResources(list: ResourceList, names: Iterable<string>): Steps<ResourceList> {
  const picked = new Map<string, Quantity>();
  for (const name of names) {
    if (isPauseDue()) yield;
    const quantity = list.get(name);
    if (quantity !== undefined) picked.set(name, quantity);
  }
  return picked;
}

function* combine(
  a: ResourceList,
  b: ResourceList,
  join: (a: Quantity, b: Quantity) => Quantity,
): Steps<Map<string, Quantity>> {
  const joined = new Map<string, Quantity>();
  for (const [name, quantity] of a) {
    if (isPauseDue()) yield;
    joined.set(name, quantity);
  }
  for (const [name, quantity] of b) {
    if (isPauseDue()) yield;
    joined.set(name, join(a.get(name) ?? { nanos: 0n, format: quantity.format }, quantity));
  }
  return joined;
}

export function addResources(a: ResourceList, b: ResourceList): Steps<ResourceList> {
  return combine(a, b, addQuantities);
}

/** The difference, nowhere below zero. */
export function subtractResources(a: ResourceList, b: ResourceList): Steps<ResourceList> {
  return combine(a, b, (one, other) => {
    const rest = subtractQuantities(one, other);
    return rest.nanos < 0n ? { ...rest, nanos: 0n } : rest;
  });
}

/** Those amounts that fulfil a condition. */
export function* resourcesThat(
  list: ResourceList,
  isWanted: (quantity: Quantity, name: string) => boolean,
): Steps<ResourceList> {
  const wanted = new Map<string, Quantity>();
  for (const [name, quantity] of list) {
    if (isPauseDue()) yield;
    if (isWanted(quantity, name)) wanted.set(name, quantity);
  }
  return wanted;
}

export function withoutZeros(list: ResourceList): Steps<ResourceList> {
  return resourcesThat(list, ({ nanos }) => nanos !== 0n);
}

/** The amounts that are above the limit; names without a limit are free. */
export function resourcesAbove(list: ResourceList, limits: ResourceList): Steps<ResourceList> {
  return resourcesThat(list, (quantity, name) => {
    const limit = limits.get(name);
    return limit !== undefined && compareQuantities(quantity, limit) > 0;
  });
}
