import type { FieldError } from '../api/errors/field-error';
import type { MetadataCheck, Strategy } from '../api/kinds/kind-definition';
import type { ObjectMeta } from '../api/object';
import { pathSegmentName } from '../api/validation/names';
import {
  validateFinalizerDomains,
  validateObjectMeta,
  validateObjectMetaChange,
  validateObjectMetaUpdate,
  validateVersioned,
  type ObjectMetaRules,
} from '../api/validation/object-meta';
import type { Resource } from './resource';

function kindRules({ definition }: Resource): ObjectMetaRules {
  const { namespaced, validateName, unqualifiedFinalizers = false } = definition;
  return { namespaced, validateName, unqualifiedFinalizers };
}

export function errorsOfNew(resource: Resource, meta: ObjectMeta): readonly FieldError[] {
  return validateObjectMeta(meta, kindRules(resource));
}

/** What the kinds' own rules for the status and other subresources look at: the change, and no more. */
const OF_SUBRESOURCES: readonly MetadataCheck[] = ['change'];

/**
 * kube-apiserver checks a change by the rules of all kinds and then by the kind's own, some of which look at metadata again, and
 * reports what several find as often: in the causes, though not in the message. Clients compare answers with it, so they are the same here.
 */
export function errorsOfChange(
  resource: Resource,
  meta: ObjectMeta,
  old: ObjectMeta,
  strategy: Strategy = resource.definition.strategy,
): readonly FieldError[] {
  const rules = kindRules(resource);
  const { definition } = resource;
  const version = strategy.requiresResourceVersion === true ? validateVersioned(meta) : [];
  const own = validateObjectMeta(meta, rules);
  if (own.length === 0 && version.length === 0 && validateObjectMetaChange(meta, old).length === 0) return own;
  const changes = [...version, ...validateObjectMetaUpdate(meta, old)];
  const domains = rules.unqualifiedFinalizers ? [] : validateFinalizerDomains(meta.finalizers, 'metadata.finalizers');
  const found: Readonly<Record<MetadataCheck, readonly FieldError[]>> = { own, change: [...changes, ...domains] };
  const isSubresource = strategy !== definition.strategy;
  const checks = strategy.metadataOnUpdate ?? (isSubresource ? OF_SUBRESOURCES : definition.metadataOnUpdate);
  const general = validateObjectMeta(meta, { ...rules, validateName: pathSegmentName, unqualifiedFinalizers: true });
  return [...general, ...changes, ...checks.flatMap((check) => found[check])];
}
