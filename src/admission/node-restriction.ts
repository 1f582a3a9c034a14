import { isDeepStrictEqual } from 'node:util';
import { notFound, qualifiedResource } from '../api/errors/status-error';
import type { MaybePromise } from '../api/maybe-promise';
import type { KubeObject } from '../api/object';
import type { UserInfo } from '../api/user';
import { forbiddenLabelChanges } from './node-labels';
import { isMirrorPod, MIRROR_ANNOTATION, podSpec } from './pod';
import { referencesConfigMap, referencesSecret } from './pod-secrets';
import { refuse, type AdmissionAttributes, type AdmissionPlugin } from './plugin';

/** What the plugin reads. */
export interface NodeRestrictionDependencies {
  readonly getPod: (namespace: string, name: string) => MaybePromise<KubeObject | undefined>;
  readonly getNode: (name: string) => MaybePromise<KubeObject | undefined>;
}

type Check = (
  node: string,
  attributes: AdmissionAttributes,
  dependencies: NodeRestrictionDependencies,
) => Promise<void>;

const USER_PREFIX = 'system:node:';
const NODES_GROUP = 'system:nodes';
const LEASE_NAMESPACE = 'kube-node-lease';

/** The name of the node that the user is the kubelet of; undefined for everybody else. */
function nodeOf({ name, groups }: UserInfo): string | undefined {
  return name.startsWith(USER_PREFIX) && groups.includes(NODES_GROUP) ? name.slice(USER_PREFIX.length) : undefined;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

async function existingPod(
  { namespace }: AdmissionAttributes,
  name: string,
  { getPod }: NodeRestrictionDependencies,
): Promise<KubeObject> {
  const pod = await getPod(namespace, name);
  if (pod === undefined) throw notFound({ group: '', resource: 'pod' }, name);
  return pod;
}

/** A kubelet creates only the mirrors of the pods that it runs from files, and these have nothing of the cluster's. */
const checkPodCreation: Check = async (node, attributes, { getNode }) => {
  const { object } = attributes;
  if (object === undefined) return;
  const who = `node ${quoted(node)}`;
  if (!isMirrorPod(object)) {
    throw refuse(
      attributes,
      `pod does not have ${quoted(MIRROR_ANNOTATION)} annotation, ${who} can only create mirror pods`,
    );
  }
  const spec = podSpec(object);
  if (spec.nodeName !== node) {
    throw refuse(attributes, `${who} can only create pods with spec.nodeName set to itself`);
  }
  const [owner, second] = object.metadata.ownerReferences ?? [];
  if (second !== undefined) {
    throw refuse(attributes, `${who} can only create pods with a single owner reference set to itself`);
  }
  if (owner === undefined || owner.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    throw refuse(attributes, `${who} can only create pods with an owner reference set to itself`);
  }
  if (owner.controller !== true) {
    throw refuse(attributes, `${who} can only create pods with a controller owner reference set to itself`);
  }
  if (owner.blockOwnerDeletion === true) {
    throw refuse(attributes, `${who} must not set blockOwnerDeletion on an owner reference`);
  }
  const found = await getNode(node);
  if (found === undefined) throw notFound({ group: '', resource: 'node' }, node);
  if (found.metadata.uid !== owner.uid) {
    throw refuse(attributes, `node ${node} UID mismatch: expected ${owner.uid} got ${found.metadata.uid ?? ''}`);
  }
  const cannot = (what: string) => refuse(attributes, `${who} can not create pods that reference ${what}`);
  if ((spec.serviceAccountName ?? '') !== '') throw cannot('a service account');
  if (referencesSecret(spec)) throw cannot('secrets');
  if (referencesConfigMap(spec)) throw cannot('configmaps');
  if ((spec.volumes ?? []).some(({ persistentVolumeClaim }) => persistentVolumeClaim != null)) {
    throw cannot('persistentvolumeclaims');
  }
};

const checkPod: Check = async (node, attributes, dependencies) => {
  const { operation, oldObject } = attributes;
  if (operation === 'CREATE') return checkPodCreation(node, attributes, dependencies);
  if (operation !== 'DELETE') {
    throw refuse(
      attributes,
      `unexpected operation ${quoted(operation)}, node ${quoted(node)} can only create and delete mirror pods`,
    );
  }
  if (oldObject !== undefined && podSpec(oldObject).nodeName !== node) {
    throw refuse(attributes, `node ${quoted(node)} can only delete pods with spec.nodeName set to itself`);
  }
};

const checkPodStatus: Check = async (node, attributes) => {
  const { object, oldObject } = attributes;
  if (oldObject === undefined || podSpec(oldObject).nodeName !== node) {
    throw refuse(
      attributes,
      `node ${quoted(node)} can only update pod status for pods with spec.nodeName set to itself`,
    );
  }
  if (!isDeepStrictEqual(object?.metadata.labels ?? {}, oldObject.metadata.labels ?? {})) {
    throw refuse(attributes, `node ${quoted(node)} cannot update labels through pod status`);
  }
};

const checkEviction: Check = async (node, attributes, dependencies) => {
  const name = attributes.name || attributes.object?.metadata.name || '';
  if (name === '') throw refuse(attributes, 'could not determine pod from request data');
  const pod = await existingPod(attributes, name, dependencies);
  if (podSpec(pod).nodeName !== node) {
    throw refuse(attributes, `node ${node} can only evict pods with spec.nodeName set to itself`);
  }
};

/** A kubelet says where its node is, not what it is for. */
const checkNode: Check = async (node, attributes) => {
  const { operation, object, oldObject } = attributes;
  const who = `node ${quoted(node)}`;
  const spec = (object?.spec ?? {}) as { readonly configSource?: object; readonly taints?: readonly object[] };
  if (operation === 'CREATE') {
    if (spec.configSource != null) {
      throw refuse(attributes, `${who} is not allowed to create pods with a non-nil configSource`);
    }
    const labels = forbiddenLabelChanges(object?.metadata.labels);
    if (labels.length > 0) {
      throw refuse(attributes, `${who} is not allowed to set the following labels: ${labels.join(', ')}`);
    }
  }
  const name = attributes.name || object?.metadata.name || '';
  if (name !== node) throw refuse(attributes, `${who} is not allowed to modify node ${quoted(name)}`);
  if (operation !== 'UPDATE') return;
  const old = (oldObject?.spec ?? {}) as typeof spec;
  if (spec.configSource != null && !isDeepStrictEqual(spec.configSource, old.configSource)) {
    throw refuse(attributes, `${who} is not allowed to update configSource to a new non-nil configSource`);
  }
  if (!isDeepStrictEqual(spec.taints ?? [], old.taints ?? [])) {
    throw refuse(attributes, `${who} is not allowed to modify taints`);
  }
  // Later releases' (CVE-2025-5187): a node that is owned by something gone is collected, and comes back with other labels.
  if (!isDeepStrictEqual(object?.metadata.ownerReferences ?? [], oldObject?.metadata.ownerReferences ?? [])) {
    throw refuse(attributes, `${who} is not allowed to modify ownerReferences`);
  }
  const labels = forbiddenLabelChanges(object?.metadata.labels, oldObject?.metadata.labels);
  if (labels.length > 0) throw refuse(attributes, `is not allowed to modify labels: ${labels.join(', ')}`);
};

/** What is left of a claim without the parts that a kubelet reports after it has grown a volume. */
function fixedPart(claim: KubeObject | undefined): unknown {
  if (claim === undefined) return undefined;
  const { resourceVersion: _version, managedFields: _fields, ...metadata } = claim.metadata;
  const {
    capacity: _capacity,
    conditions: _conditions,
    allocatedResources: _allocated,
    allocatedResourceStatuses: _statuses,
    ...status
  } = (claim.status ?? {}) as Record<string, unknown>;
  return { metadata, spec: claim.spec, status };
}

const checkClaimStatus: Check = async (node, attributes) => {
  if (isDeepStrictEqual(fixedPart(attributes.object), fixedPart(attributes.oldObject))) return;
  throw refuse(
    attributes,
    `node ${quoted(node)} is not allowed to update fields other than status.capacity and status.conditions`,
  );
};

const refuseClaim: Check = async (_node, attributes) => {
  throw refuse(attributes, 'may only update PVC status');
};

/** A kubelet asks for tokens only on behalf of the pods on its node. */
const checkTokenRequest: Check = async (node, attributes, dependencies) => {
  const { boundObjectRef: bound } = (attributes.object?.spec ?? {}) as {
    readonly boundObjectRef?: {
      readonly apiVersion?: string;
      readonly kind?: string;
      readonly name?: string;
      readonly uid?: string;
    };
  };
  if (bound?.apiVersion !== 'v1' || bound.kind !== 'Pod' || !bound.name) {
    throw refuse(attributes, 'node requested token not bound to a pod');
  }
  if (!bound.uid) throw refuse(attributes, 'node requested token with a pod binding without a uid');
  const pod = await existingPod(attributes, bound.name, dependencies);
  if (bound.uid !== pod.metadata.uid) {
    throw refuse(
      attributes,
      `the UID in the bound object reference (${bound.uid}) does not match the UID in record ` +
        `(${pod.metadata.uid ?? ''}). The object might have been deleted and then recreated`,
    );
  }
  if (podSpec(pod).nodeName !== node) {
    throw refuse(attributes, 'node requested token bound to a pod scheduled on a different node');
  }
};

function ownName({ operation, name, object }: AdmissionAttributes): string {
  return operation === 'CREATE' ? (object?.metadata.name ?? '') : name;
}

const checkLease: Check = async (node, attributes) => {
  if (attributes.namespace !== LEASE_NAMESPACE) {
    throw refuse(attributes, `can only access leases in the ${quoted(LEASE_NAMESPACE)} system namespace`);
  }
  if (ownName(attributes) !== node) {
    throw refuse(attributes, 'can only access node lease with the same name as the requesting node');
  }
};

const checkCsiNode: Check = async (node, attributes) => {
  if (ownName(attributes) !== node) {
    throw refuse(attributes, 'can only access CSINode with the same name as the requesting node');
  }
};

const refuseSubresource: Check = async (_node, attributes) => {
  const { subresource } = attributes;
  throw refuse(
    attributes,
    `unexpected pod subresource ${quoted(subresource)}, only 'status' and 'eviction' are allowed`,
  );
};

/** By resource and subresource; `*` stands for all other subresources. */
const CHECKS: Readonly<Record<string, Check>> = {
  pods: checkPod,
  'pods/status': checkPodStatus,
  'pods/eviction': checkEviction,
  'pods/*': refuseSubresource,
  nodes: checkNode,
  'nodes/*': checkNode,
  persistentvolumeclaims: refuseClaim,
  'persistentvolumeclaims/status': checkClaimStatus,
  'persistentvolumeclaims/*': refuseClaim,
  'serviceaccounts/token': checkTokenRequest,
  'leases.coordination.k8s.io': checkLease,
  'csinodes.storage.k8s.io': checkCsiNode,
};

function checkOf({ group, resource, subresource }: AdmissionAttributes): Check | undefined {
  const subject = qualifiedResource({ group, resource });
  return subresource === '' ? CHECKS[subject] : (CHECKS[`${subject}/${subresource}`] ?? CHECKS[`${subject}/*`]);
}

/** NodeRestriction: a kubelet changes its own node, the pods on it, and what belongs to these. */
export function nodeRestriction(dependencies: NodeRestrictionDependencies): AdmissionPlugin {
  const check = (attributes: AdmissionAttributes): MaybePromise<void> => {
    const node = nodeOf(attributes.user);
    if (node === undefined) return;
    if (node === '') {
      throw refuse(attributes, `could not determine node from user ${quoted(attributes.user.name)}`);
    }
    return checkOf(attributes)?.(node, attributes, dependencies);
  };
  return {
    name: 'NodeRestriction',
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    check,
  };
}
