import { setOwn } from '../../codec/set-own';
import { fill } from '../../fill-later';
import type { KubeObject } from '../../object';
import { keysOf, rememberKeys, type Steps } from '../../parts';
import { parseQuantity, formatQuantity, roundUpQuantity } from '../../quantity/quantity';
import { isPlainMap, listAt, mapAt, stringAt, type PlainMap } from '../field-values';
import { withFields } from '../strategies';

const MILLI = -3;

/** What can be used of a node is all it has, until it says otherwise. */
function defaultAllocatable(node: KubeObject): KubeObject {
  if (keysOf(mapAt(node, 'status', 'allocatable')).length > 0) return roundedAllocatable(node);
  const capacity = mapAt(node, 'status', 'capacity');
  if (keysOf(capacity).length === 0) return node;
  return roundedAllocatable(withFields(node, 'status', { allocatable: capacity }));
}

/** Amounts are kept to the thousandth. */
function roundedAllocatable(node: KubeObject): KubeObject {
  const rounded = (field: string): object | undefined => {
    const amounts = mapAt(node, 'status', field);
    if (keysOf(amounts).length === 0) return undefined;
    const made: Record<string, unknown> = {};
    fill(roundInto(made, amounts));
    return made;
  };
  return withFields(node, 'status', { capacity: rounded('capacity'), allocatable: rounded('allocatable') });
}

function* roundInto(made: Record<string, unknown>, amounts: PlainMap): Steps<void> {
  const names = keysOf(amounts);
  for (const name of names) {
    setOwn(made, name, roundUp(String(amounts[name])));
    yield;
  }
  rememberKeys(made, names);
}

function roundUp(text: string): string {
  const quantity = parseQuantity(text);
  const rounded = roundUpQuantity(quantity, MILLI);
  return rounded.nanos === quantity.nanos ? text : formatQuantity(rounded);
}

/** The older field for one block of pod addresses is the first of the newer list; where they differ, it decides. */
function alignPodCidrs(node: KubeObject): KubeObject {
  const single = stringAt(node, 'spec', 'podCIDR');
  const [first] = listAt(node, 'spec', 'podCIDRs');
  if (single === '') return typeof first === 'string' ? withFields(node, 'spec', { podCIDR: first }) : node;
  return first === single ? node : withFields(node, 'spec', { podCIDRs: [single] });
}

/** The computed defaults of a node. */
export function defaultNode(node: KubeObject): KubeObject {
  const aligned = isPlainMap(node['spec']) ? alignPodCidrs(node) : node;
  return isPlainMap(node['status']) ? defaultAllocatable(aligned) : aligned;
}
