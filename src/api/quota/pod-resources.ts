import type { KubeObject } from '../object';
import { keysOf, type Steps } from '../parts';
import { addQuantities, compareQuantities, parseQuantity, type Quantity } from '../quantity/quantity';
import { isPauseDue } from '../steps/pace';

/** A container's part that costs something. */
export interface ContainerResources {
  readonly name: string;
  readonly resources?: {
    readonly requests?: Readonly<Record<string, string>>;
    readonly limits?: Readonly<Record<string, string>>;
  };
}

export interface PodResources {
  /** Null where a client has sent none. */
  readonly containers?: readonly ContainerResources[] | null;
  readonly initContainers?: readonly ContainerResources[];
  readonly activeDeadlineSeconds?: number;
  readonly priorityClassName?: string;
  readonly affinity?: Readonly<Record<string, unknown>>;
}

export function podResources(pod: KubeObject): PodResources {
  return pod.spec ?? {};
}

/**
 * What a pod asks for, or may use at most: the sum over its containers, which run at the same time, or the largest init
 * container, which run one after the other before them.
 */
export function* podTotal(
  { containers, initContainers }: PodResources,
  of: 'requests' | 'limits',
): Steps<ReadonlyMap<string, Quantity>> {
  const total = new Map<string, Quantity>();
  for (const [some, join] of [
    [containers ?? [], addQuantities],
    [initContainers ?? [], larger],
  ] as const) {
    for (const { resources } of some) {
      const amounts = resources?.[of] ?? {};
      for (const name of keysOf(amounts)) {
        if (isPauseDue()) yield;
        const before = total.get(name);
        const amount = parseQuantity(amounts[name]!);
        total.set(name, before === undefined ? amount : join(before, amount));
      }
    }
  }
  return total;
}

function larger(before: Quantity, amount: Quantity): Quantity {
  return compareQuantities(before, amount) >= 0 ? before : amount;
}

/** No container asks for processor or memory, or limits them: the class of service BestEffort. */
export function* isBestEffort({ containers, initContainers }: PodResources): Steps<boolean> {
  for (const list of [containers, initContainers]) {
    for (const { resources } of list ?? []) {
      if (isPauseDue()) yield;
      if (asksForSome(resources?.requests) || asksForSome(resources?.limits)) return false;
    }
  }
  return true;
}

function asksForSome(amounts: Readonly<Record<string, string>> | undefined): boolean {
  return ['cpu', 'memory'].some((name) => {
    const text = amounts?.[name];
    return text !== undefined && parseQuantity(text).nanos !== 0n;
  });
}

/** Resources of the platform itself, as opposed to those that a device plugin announces (`example.com/gpu`). */
export function isNativeResource(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}
