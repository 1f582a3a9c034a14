import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  subtractQuantities,
  type Quantity,
} from '../quantity/quantity';

/** Amounts by resource name, as a quota's `hard` and `used` have them. */
export type ResourceList = ReadonlyMap<string, Quantity>;

export function parseResourceList(texts: Readonly<Record<string, string>> | undefined): ResourceList {
  return new Map(Object.entries(texts ?? {}).map(([name, text]) => [name, parseQuantity(text)]));
}

export function formatResourceList(list: ResourceList): Readonly<Record<string, string>> {
  return Object.fromEntries([...list].map(([name, quantity]) => [name, formatQuantity(quantity)]));
}

/** `limits.memory=1Gi,pods=3`: as messages show them. */
export function printResourceList(list: ResourceList): string {
  return [...list.keys()]
    .sort()
    .map((name) => `${name}=${formatQuantity(list.get(name)!)}`)
    .join(',');
}

/** The amounts of these names only. */
export function pickResources(list: ResourceList, names: Iterable<string>): ResourceList {
  const picked = new Map<string, Quantity>();
  for (const name of names) {
    const quantity = list.get(name);
    if (quantity !== undefined) picked.set(name, quantity);
  }
  return picked;
}

function combine(a: ResourceList, b: ResourceList, join: (a: Quantity, b: Quantity) => Quantity): ResourceList {
  const joined = new Map(a);
  for (const [name, quantity] of b) {
    const other = a.get(name);
    joined.set(name, join(other ?? { nanos: 0n, format: quantity.format }, quantity));
  }
  return joined;
}

export function addResources(a: ResourceList, b: ResourceList): ResourceList {
  return combine(a, b, addQuantities);
}

/** The larger of each. */
export function maxResources(a: ResourceList, b: ResourceList): ResourceList {
  return combine(a, b, (one, other) => (compareQuantities(one, other) >= 0 ? one : other));
}

/** The difference, nowhere below zero. */
export function subtractResources(a: ResourceList, b: ResourceList): ResourceList {
  return combine(a, b, (one, other) => {
    const rest = subtractQuantities(one, other);
    return rest.nanos < 0n ? { ...rest, nanos: 0n } : rest;
  });
}

export function withoutZeros(list: ResourceList): ResourceList {
  return new Map([...list].filter(([, { nanos }]) => nanos !== 0n));
}

/** The names whose amount is above the limit; names without a limit are free. */
export function namesAbove(list: ResourceList, limits: ResourceList): readonly string[] {
  return [...list.keys()].filter((name) => {
    const limit = limits.get(name);
    return limit !== undefined && compareQuantities(list.get(name)!, limit) > 0;
  });
}
