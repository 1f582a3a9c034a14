import {
  matchesLabels,
  selectorRequirements,
  type LabelSelector,
  type Labels,
} from '../../api/selectors/label-selector';
import type { AdmissionAttributes } from '../plugin';

/** Operations on resources, as rules of policies name them. */
export interface ResourceRule {
  readonly resourceNames?: readonly string[];
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: string | null;
}

/** `matchConstraints` and `matchResources`. */
export interface MatchResources {
  readonly namespaceSelector?: LabelSelector | null;
  readonly objectSelector?: LabelSelector | null;
  readonly resourceRules?: readonly ResourceRule[];
  readonly excludeResourceRules?: readonly ResourceRule[];
  readonly matchPolicy?: string | null;
}

/** What of a request is the same for many: what is remembered by it has an end. */
export type ResourceOperation = Pick<
  AdmissionAttributes,
  'operation' | 'group' | 'version' | 'resource' | 'subresource'
>;

export interface ResourceMatcher {
  /** False: no such request matches, whatever it names and wherever it is. */
  readonly mayMatch: (of: ResourceOperation) => boolean;
  /** `namespaceLabels`: of the request's namespace, or of the namespace that it is about; undefined where it is in none. */
  readonly matches: (attributes: AdmissionAttributes, namespaceLabels: Labels | undefined) => boolean;
}

/** `hasRules`: without rules nothing is meant; bindings without rules mean what their policy means. */
export function compileMatcher(resources: MatchResources, hasRules: boolean): ResourceMatcher {
  const { resourceRules = [], excludeResourceRules = [], matchPolicy } = resources;
  const isExact = matchPolicy === 'Exact';
  const namespaces = selectorRequirements(resources.namespaceSelector) ?? [];
  const objects = selectorRequirements(resources.objectSelector) ?? [];
  const mayMatch = (of: ResourceOperation): boolean => {
    if (!hasRules && resourceRules.length === 0) return true;
    return resourceRules.some((rule) => isAbout(rule, of, isExact));
  };
  const matches: ResourceMatcher['matches'] = (attributes, namespaceLabels) => {
    const isNamed = (rule: ResourceRule): boolean => matchesRule(rule, attributes, isExact);
    if (hasRules && !resourceRules.some(isNamed)) return false;
    if (!hasRules && resourceRules.length > 0 && !resourceRules.some(isNamed)) return false;
    if (excludeResourceRules.some(isNamed)) return false;
    if (namespaces.length > 0 && namespaceLabels !== undefined && !matchesLabels(namespaces, namespaceLabels)) {
      return false;
    }
    if (objects.length === 0) return true;
    return [attributes.object, attributes.oldObject].some(
      (object) => object !== undefined && matchesLabels(objects, object.metadata.labels),
    );
  };
  return { mayMatch, matches };
}

function includes(names: readonly string[] | undefined, name: string): boolean {
  return names !== undefined && (names.includes('*') || names.includes(name));
}

/** Versions of a resource stand for one another, unless only the named ones are meant. */
function isAbout(rule: ResourceRule, of: ResourceOperation, isExact: boolean): boolean {
  if (!includes(rule.operations, of.operation) || !includes(rule.apiGroups, of.group)) return false;
  if (isExact && !includes(rule.apiVersions, of.version)) return false;
  return (rule.resources ?? []).some((entry) => matchesResource(entry, of));
}

function matchesRule(rule: ResourceRule, attributes: AdmissionAttributes, isExact: boolean): boolean {
  const { group, namespace, name, object } = attributes;
  const { resourceNames = [], scope = '*' } = rule;
  const isNamespace = group === '' && attributes.resource === 'namespaces';
  const isNamespaced = namespace !== '' && !isNamespace;
  if (scope === 'Namespaced' && !isNamespaced) return false;
  if (scope === 'Cluster' && isNamespaced) return false;
  const actualName = name === '' ? (object?.metadata.name ?? '') : name;
  if (resourceNames.length > 0 && !resourceNames.includes(actualName)) return false;
  return isAbout(rule, attributes, isExact);
}

/** `pods`, `pods/log`, `pods/*`, `*` and so on. */
function matchesResource(entry: string, { resource, subresource }: ResourceOperation): boolean {
  const [wanted = '', wantedSub = ''] = entry.split('/');
  return (wanted === '*' || wanted === resource) && (wantedSub === '*' || wantedSub === subresource);
}
