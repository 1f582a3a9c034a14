import { ageColumn, column, longColumn, nameColumn, tableOf, wideColumn } from '../../table/table';
import type { KubeObject } from '../../object';
import { keysOf, type Steps } from '../../parts';
import { sortNames } from '../../steps/generated/sort-in-runs';
import { isPauseDue } from '../../steps/pace';
import { validateNode, validateNodeStatusUpdate, validateNodeUpdate } from '../../validation/node';
import { defineKind } from '../define-kind';
import { booleanAt, listAt, stringAt } from '../field-values';
import type { Strategy } from '../kind-definition';
import { keepSpec, keepStatus, withFields } from '../strategies';
import { defaultNode } from './node-defaults';
import { connectSubresource, PROXY_VERBS, statusSubresource } from '../subresources';

const ROLE_PREFIX = 'node-role.kubernetes.io/';
const ROLE_LABEL = 'kubernetes.io/role';

function nodeStatus(node: KubeObject): string {
  const ready = listAt(node, 'status', 'conditions').find((condition) => stringAt(condition, 'type') === 'Ready');
  const state = ready === undefined ? 'Unknown' : stringAt(ready, 'status') === 'True' ? 'Ready' : 'NotReady';
  return booleanAt(node, 'spec', 'unschedulable') ? `${state},SchedulingDisabled` : state;
}

function* nodeRoles(node: KubeObject): Steps<string> {
  const { labels = {} } = node.metadata;
  const roles = new Set<string>();
  for (const key of keysOf(labels)) {
    if (isPauseDue()) yield;
    if (key.startsWith(ROLE_PREFIX)) roles.add(key.slice(ROLE_PREFIX.length));
    else if (key === ROLE_LABEL) roles.add(labels[key] ?? '');
  }
  roles.delete('');
  return (yield* sortNames([...roles])).join(',') || '<none>';
}

function address(type: string): (node: KubeObject) => string {
  return (node) => {
    const found = listAt(node, 'status', 'addresses').find((candidate) => stringAt(candidate, 'type') === type);
    return found === undefined ? '<none>' : stringAt(found, 'address');
  };
}

function nodeInfo(field: string): (node: KubeObject) => string {
  return (node) => stringAt(node, 'status', 'nodeInfo', field) || '<unknown>';
}

const strategy: Strategy = {
  prepareForUpdate: keepStatus,
  validateCreate: validateNode,
  validateUpdate: validateNodeUpdate,
};

/** Without the gate no node gets a second range; one that has it keeps it. */
function withoutSecondRange(node: KubeObject, old: KubeObject | undefined): KubeObject {
  const ranges = listAt(node, 'spec', 'podCIDRs');
  return ranges.length <= 1 || listAt(old, 'spec', 'podCIDRs').length > 1
    ? node
    : withFields(node, 'spec', { podCIDRs: ranges.slice(0, 1) });
}

/** The strategy of a server with `--feature-gates=IPv6DualStack=false`. */
export const singleStackNodeStrategy: Strategy = {
  ...strategy,
  prepareForCreate: (object) => withoutSecondRange(object, undefined),
  prepareForUpdate: (object, old) => withoutSecondRange(keepStatus(object, old), old),
};

export const node = defineKind({
  group: '',
  kind: 'Node',
  resource: 'nodes',
  shortNames: ['no'],
  namespaced: false,
  metadataOnUpdate: ['own', 'change'],
  versions: ['v1'],
  storagePrefix: 'minions',
  applyDefaults: defaultNode,
  strategy,
  subresources: [
    connectSubresource('proxy', 'NodeProxyOptions', PROXY_VERBS),
    statusSubresource({ prepareForUpdate: keepSpec, validateUpdate: validateNodeStatusUpdate }),
  ],
  selectableFields: { 'spec.unschedulable': (object) => String(booleanAt(object, 'spec', 'unschedulable')) },
  table: tableOf([
    nameColumn,
    column('Status', 'Whether the node is ready, and whether it takes pods.', nodeStatus),
    longColumn('Roles', 'The roles that labels give to the node.', nodeRoles),
    ageColumn,
    column('Version', 'The version of the kubelet.', (object) =>
      stringAt(object, 'status', 'nodeInfo', 'kubeletVersion'),
    ),
    wideColumn('Internal-IP', 'The address inside the cluster.', address('InternalIP')),
    wideColumn('External-IP', 'The address outside the cluster.', address('ExternalIP')),
    wideColumn('OS-Image', 'The operating system.', nodeInfo('osImage')),
    wideColumn('Kernel-Version', 'The version of the kernel.', nodeInfo('kernelVersion')),
    wideColumn('Container-Runtime', 'The container runtime and its version.', nodeInfo('containerRuntimeVersion')),
  ]),
});
