import {
  matchesLabels,
  selectorRequirements,
  type LabelRequirement,
  type LabelSelector,
  type Labels,
} from '../../api/selectors/label-selector';
import { isNamespace, type AdmissionAttributes } from '../plugin';
import type { VersionedResource } from '../versions/object-versions';

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

/** What a request is about, as it was sent and in the other versions. The same for many: what is remembered by it has an end. */
export interface RequestedResource {
  readonly operation: AdmissionAttributes['operation'];
  readonly asRequested: VersionedResource;
  readonly equivalents: readonly VersionedResource[];
}

export interface ResourceMatcher {
  /** False: no such request matches, whatever it names and wherever it is. */
  readonly mayMatch: (requested: RequestedResource) => boolean;
  /**
   * In which version a request matches, undefined: it does not. `namespaceLabels`: of the request's namespace, or of the namespace that it is
   * about; undefined where it is in none.
   */
  readonly match: (
    attributes: AdmissionAttributes,
    requested: RequestedResource,
    namespaceLabels: Labels | undefined,
  ) => VersionedResource | undefined;
}

/** `hasRules`: without rules nothing is meant; bindings without rules mean what their policy means. */
export function compileMatcher(resources: MatchResources, hasRules: boolean): ResourceMatcher {
  const { resourceRules = [], excludeResourceRules = [], matchPolicy } = resources;
  const matchesAll = !hasRules && resourceRules.length === 0;
  const namespaces = selectorRequirements(resources.namespaceSelector) ?? [];
  const objects = selectorRequirements(resources.objectSelector) ?? [];
  const versionsOf = ({ asRequested, equivalents }: RequestedResource): readonly VersionedResource[] =>
    matchPolicy === 'Exact' ? [asRequested] : [asRequested, ...equivalents];
  /** The request as it was sent counts first, then the rules in their order, each with what is equivalent. */
  const firstMatch = (
    rules: readonly ResourceRule[],
    attributes: AdmissionAttributes,
    requested: RequestedResource,
  ): VersionedResource | undefined => {
    const named = rules.filter((rule) => isNamed(rule, attributes));
    const { operation, asRequested } = requested;
    if (named.some((rule) => isAbout(rule, operation, asRequested))) return asRequested;
    for (const rule of named) {
      const found = versionsOf(requested).find((one) => isAbout(rule, operation, one));
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return {
    mayMatch: (requested) =>
      matchesAll ||
      versionsOf(requested).some((one) => resourceRules.some((rule) => isAbout(rule, requested.operation, one))),
    match: (attributes, requested, namespaceLabels) => {
      if (namespaces.length > 0 && namespaceLabels !== undefined && !matchesLabels(namespaces, namespaceLabels)) {
        return undefined;
      }
      if (objects.length > 0 && !hasLabels(objects, attributes)) return undefined;
      if (firstMatch(excludeResourceRules, attributes, requested) !== undefined) return undefined;
      return matchesAll ? requested.asRequested : firstMatch(resourceRules, attributes, requested);
    },
  };
}

function includes(names: readonly string[] | undefined, name: string): boolean {
  return names !== undefined && (names.includes('*') || names.includes(name));
}

function isAbout(rule: ResourceRule, operation: string, of: VersionedResource): boolean {
  return (
    includes(rule.operations, operation) &&
    includes(rule.apiGroups, of.group) &&
    includes(rule.apiVersions, of.version) &&
    (rule.resources ?? []).some((entry) => matchesResource(entry, of))
  );
}

/** The options of a connection have no labels. */
function hasLabels(
  wanted: readonly LabelRequirement[],
  { operation, object, oldObject }: AdmissionAttributes,
): boolean {
  if (operation === 'CONNECT') return false;
  return [object, oldObject].some((one) => one !== undefined && matchesLabels(wanted, one.metadata.labels));
}

/** Scope and names. */
function isNamed({ resourceNames = [], scope = '*' }: ResourceRule, attributes: AdmissionAttributes): boolean {
  const { namespace, name, object } = attributes;
  const isNamespaced = namespace !== '' && !isNamespace(attributes);
  if (scope === 'Namespaced' && !isNamespaced) return false;
  if (scope === 'Cluster' && isNamespaced) return false;
  const actualName = name === '' ? (object?.metadata.name ?? '') : name;
  return resourceNames.length === 0 || resourceNames.includes(actualName);
}

/** `pods`, `pods/log`, `pods/*`, `*` and so on. */
function matchesResource(entry: string, { resource, subresource }: VersionedResource): boolean {
  const [wanted = '', wantedSub = ''] = entry.split('/', 2);
  return (wanted === '*' || wanted === resource) && (wantedSub === '*' || wantedSub === subresource);
}
