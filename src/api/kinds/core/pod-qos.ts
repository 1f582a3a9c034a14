import { addQuantities, compareQuantities, parseQuantity, type Quantity } from '../../quantity/quantity';
import type { Steps } from '../../parts';
import type { PodSpec } from '../../schema/generated/core-v1';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

/** Only these decide who is pushed out first when a node runs short. */
const COMPUTE = ['cpu', 'memory'];

type Sums = Map<string, Quantity>;

function addTo(sums: Sums, amounts: Readonly<Record<string, string>> | undefined): readonly string[] {
  return COMPUTE.filter((name) => {
    const text = amounts?.[name];
    const amount = text === undefined ? undefined : parseQuantity(text);
    if (amount === undefined || amount.nanos <= 0n) return false;
    const sum = sums.get(name);
    sums.set(name, sum === undefined ? amount : addQuantities(sum, amount));
    return true;
  });
}

/**
 * Guaranteed when every container has limits of cpu and memory, which the requests equal; BestEffort when none asks for
 * anything (Kubernetes documentation, "Pod Quality of Service Classes").
 */
export function* qosClassOf({ containers, initContainers }: PodSpec): Steps<QosClass> {
  const requests: Sums = new Map();
  const limits: Sums = new Map();
  let allLimited = true;
  for (const { resources } of [...(containers ?? []), ...(initContainers ?? [])]) {
    addTo(requests, resources?.requests);
    if (addTo(limits, resources?.limits).length < COMPUTE.length) allLimited = false;
    yield;
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  const equal = [...requests].every(([name, request]) => {
    const limit = limits.get(name);
    return limit !== undefined && compareQuantities(limit, request) === 0;
  });
  return allLimited && equal && requests.size === limits.size ? 'Guaranteed' : 'Burstable';
}
