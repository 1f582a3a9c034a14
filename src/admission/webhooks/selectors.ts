import { notFound } from '../../api/errors/status-error';
import { whenKnown, type MaybePromise } from '../../api/maybe-promise';
import type { KubeObject } from '../../api/object';
import { matchesLabels, type LabelRequirement, type Labels } from '../../api/selectors/label-selector';
import { isNamespace, type AdmissionAttributes } from '../plugin';
import type { NamespaceLabels } from '../versions/object-versions';
import type { Webhook } from './webhook';
import type { Candidate } from './webhook-index';

/** What namespaceSelectors look at. */
export type NamespaceView =
  /** Cluster-scoped: every selector matches. */
  | { readonly kind: 'none' }
  | { readonly kind: 'labels'; readonly labels: Labels }
  | { readonly kind: 'missing'; readonly name: string };

const NO_NAMESPACE: NamespaceView = { kind: 'none' };
const NO_LABELS: Labels = {};

/**
 * The labels of the request's namespace. A namespace that is created or updated is looked at itself, as it is to be; one that is
 * deleted as it stands.
 */
export function namespaceView(attributes: AdmissionAttributes, labelsOf: NamespaceLabels): MaybePromise<NamespaceView> {
  const { namespace, subresource, operation, object } = attributes;
  const namespaceItself = isNamespace(attributes);
  if (namespaceItself && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')) {
    return { kind: 'labels', labels: object?.metadata.labels ?? NO_LABELS };
  }
  if (namespace === '') return NO_NAMESPACE;
  return whenKnown(labelsOf(namespace), (labels) =>
    labels === undefined ? { kind: 'missing', name: namespace } : { kind: 'labels', labels },
  );
}

/**
 * Of these candidates those whose namespaceSelector matches. Throws the 404 of a namespace that is not there when one of them has
 * to look at it.
 */
export function inNamespace(candidates: readonly Candidate[], view: NamespaceView): readonly Candidate[] {
  switch (view.kind) {
    case 'none':
      return candidates;
    case 'missing':
      if (candidates.every(({ webhook }) => webhook.namespaceSelector?.length === 0)) return candidates;
      throw notFound({ group: '', resource: 'namespaces' }, view.name);
    case 'labels':
      return selectedBy(candidates, view.labels);
  }
}

/**
 * What was found for the labels of a namespace, which stay the same object as long as the namespace is not changed: a hundred
 * selectors cost a lookup.
 */
const remembered = new WeakMap<readonly Candidate[], WeakMap<Labels, readonly Candidate[]>>();

function selectedBy(candidates: readonly Candidate[], labels: Labels): readonly Candidate[] {
  let known = remembered.get(candidates);
  if (known === undefined) remembered.set(candidates, (known = new WeakMap()));
  let selected = known.get(labels);
  if (selected === undefined) {
    selected = candidates.filter(({ webhook }) => selects(webhook.namespaceSelector, labels));
    known.set(labels, selected);
  }
  return selected;
}

function selects(selector: readonly LabelRequirement[] | undefined, labels: Labels | undefined): boolean {
  return selector !== undefined && (selector.length === 0 || matchesLabels(selector, labels));
}

/**
 * Whether the objectSelector matches the object or the one that it replaces. The options of a connection have no labels, and are matched by
 * the empty selector only.
 */
export function selectsObject(
  { objectSelector: selector }: Webhook,
  { operation, oldObject }: AdmissionAttributes,
  object: KubeObject | undefined,
): boolean {
  if (selector === undefined) return false;
  if (selector.length === 0) return true;
  if (operation === 'CONNECT') return false;
  return (
    (object !== undefined && matchesLabels(selector, object.metadata.labels)) ||
    (oldObject !== undefined && matchesLabels(selector, oldObject.metadata.labels))
  );
}
