import type { FieldError } from '../api/errors/field-error';
import type { Strategy } from '../api/kinds/kind-definition';
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

/**
 * kube-apiserver checks a change twice, by the rules of all kinds and by the kind's own, and reports what both find twice:
 * in the causes, though not in the message. Clients compare answers with it, so they are the same here.
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
  const change = [...version, ...validateObjectMetaUpdate(meta, old)];
  // Subresources have rules of their own, which look at it.
  const isToldOnce = definition.metadataChangeToldOnce === true && strategy === definition.strategy;
  const changes = isToldOnce ? change : [...change, ...change];
  const general = validateObjectMeta(meta, { ...rules, validateName: pathSegmentName, unqualifiedFinalizers: true });
  if (rules.unqualifiedFinalizers) return [...general, ...changes];
  const domains = validateFinalizerDomains(meta.finalizers, 'metadata.finalizers');
  return [...general, ...changes, ...domains, ...(definition.metadataToldByChange === true ? [] : own)];
}
