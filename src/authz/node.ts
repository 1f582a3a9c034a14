import type { UserInfo } from '../api/user';
import type { Attributes, Authorization, Authorizer } from './attributes';
import type { NodeGraph, ReferencedKind } from './node-graph';
import { ruleAllows, type PolicyRule } from './rbac-rules';
import type { RuleLister } from './rules-review';

const NODE_PREFIX = 'system:node:';
const NODES_GROUP = 'system:nodes';
const LEASE_NAMESPACE = 'kube-node-lease';

const ALLOWED: Authorization = { decision: 'allow', reason: '' };
const NO_OPINION: Authorization = { decision: 'no-opinion', reason: '' };

/** The node that a user is; undefined unless both the name and the group say so. */
export function nodeNameOf({ name, groups }: UserInfo): string | undefined {
  if (!name.startsWith(NODE_PREFIX) || !groups.includes(NODES_GROUP)) return undefined;
  return name.slice(NODE_PREFIX.length);
}

function refuse(reason: string): Authorization {
  return { decision: 'no-opinion', reason };
}

type Check = (node: string, attributes: Attributes, graph: NodeGraph) => Authorization;

function related(kind: ReferencedKind): Check {
  return (node, { namespace, name }, graph) => {
    if (name === '') return refuse('No Object name found');
    return graph.leadsTo(node, kind, namespace, name)
      ? ALLOWED
      : refuse(`no relationship found between node '${node}' and this object`);
  };
}

function readable(kind: ReferencedKind): Check {
  const check = related(kind);
  return (node, attributes, graph) => {
    if (!['get', 'list', 'watch'].includes(attributes.verb)) return refuse('can only read resources of this type');
    if (attributes.subresource !== '') return refuse('cannot read subresource');
    if (attributes.namespace === '') return refuse('can only read namespaced object of this type');
    return check(node, attributes, graph);
  };
}

function gettable(kind: ReferencedKind): Check {
  const check = related(kind);
  return (node, attributes, graph) => {
    if (attributes.verb !== 'get') return refuse('can only get individual resources of this type');
    if (attributes.subresource !== '') return refuse('cannot get subresource');
    return check(node, attributes, graph);
  };
}

const claims: Check = (node, attributes, graph) => {
  if (attributes.subresource !== 'status') return gettable('claim')(node, attributes, graph);
  if (!['get', 'update', 'patch'].includes(attributes.verb)) return refuse('can only get/update/patch this type');
  return related('claim')(node, attributes, graph);
};

const accounts: Check = (node, attributes, graph) => {
  if (attributes.verb !== 'create' || attributes.name === '') {
    return refuse('can only create tokens for individual service accounts');
  }
  if (attributes.subresource !== 'token') return refuse('can only create token subresource of service account');
  return related('account')(node, attributes, graph);
};

const OWN_OBJECT_VERBS = ['get', 'create', 'update', 'patch', 'delete'];

const leases: Check = (node, { verb, namespace, name }) => {
  if (!OWN_OBJECT_VERBS.includes(verb)) return refuse('can only get, create, update, patch, or delete a node lease');
  if (namespace !== LEASE_NAMESPACE)
    return refuse(`can only access leases in the "${LEASE_NAMESPACE}" system namespace`);
  // The name of what is created is checked by admission, which sees the object.
  if (verb !== 'create' && name !== node) {
    return refuse('can only access node lease with the same name as the requesting node');
  }
  return ALLOWED;
};

const csiNodes: Check = (node, { verb, subresource, name }) => {
  if (!OWN_OBJECT_VERBS.includes(verb)) return refuse('can only get, create, update, patch, or delete a CSINode');
  if (subresource !== '') return refuse('cannot authorize CSINode subresources');
  if (verb !== 'create' && name !== node) {
    return refuse('can only access CSINode with the same name as the requesting node');
  }
  return ALLOWED;
};

/** By `group/resource`: what is given to a node object by object. */
const CHECKS: ReadonlyMap<string, Check> = new Map([
  ['/secrets', readable('secret')],
  ['/configmaps', readable('configmap')],
  ['/persistentvolumeclaims', claims],
  ['/persistentvolumes', gettable('volume')],
  ['storage.k8s.io/volumeattachments', gettable('attachment')],
  ['/serviceaccounts', accounts],
  ['coordination.k8s.io/leases', leases],
  ['storage.k8s.io/csinodes', csiNodes],
]);

/**
 * `--authorization-mode=Node`: a node reaches what the pods that are bound to it refer to, its own lease and CSINode,
 * and what `nodeRules` give to every node.
 */
export function nodeAuthorizer(graph: NodeGraph, nodeRules: readonly PolicyRule[]): Authorizer {
  return (attributes) => {
    const node = nodeNameOf(attributes.user);
    if (node === undefined) return NO_OPINION;
    if (node === '') return refuse(`unknown node for user ${JSON.stringify(attributes.user.name)}`);
    const check = attributes.resourceRequest ? CHECKS.get(`${attributes.group}/${attributes.resource}`) : undefined;
    if (check !== undefined) return check(node, attributes, graph);
    return nodeRules.some((rule) => ruleAllows(rule, attributes)) ? ALLOWED : NO_OPINION;
  };
}

/** For nodes the graph decides, which cannot be listed. */
export const listRulesOfNode: RuleLister = (user) =>
  nodeNameOf(user) === undefined
    ? { rules: [], incomplete: false }
    : { rules: [], incomplete: true, error: 'node authorizer does not support user rule resolution' };
