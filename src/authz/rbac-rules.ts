import type { Attributes } from './attributes';

/** A rule of a Role or ClusterRole. Absent lists are empty. */
export interface PolicyRule {
  readonly verbs?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

const ALL = '*';

function contains(list: readonly string[] | undefined, value: string): boolean {
  return list !== undefined && (list.includes(value) || list.includes(ALL));
}

// Forms: `pods`, `pods/log`, and a star before `/scale` for the scale of everything.
function resourceMatches(rule: PolicyRule, resource: string, subresource: string): boolean {
  const resources = rule.resources;
  if (resources === undefined) return false;
  const wanted = subresource === '' ? resource : `${resource}/${subresource}`;
  return (
    resources.includes(ALL) ||
    resources.includes(wanted) ||
    (subresource !== '' && resources.includes(`${ALL}/${subresource}`))
  );
}

function pathMatches(rule: PolicyRule, path: string): boolean {
  return (rule.nonResourceURLs ?? []).some(
    (pattern) =>
      pattern === ALL || pattern === path || (pattern.endsWith(ALL) && path.startsWith(pattern.slice(0, -ALL.length))),
  );
}

/** Whether one rule permits the request. Rules only ever add permissions. */
export function ruleAllows(rule: PolicyRule, attributes: Attributes): boolean {
  if (!contains(rule.verbs, attributes.verb)) return false;
  if (!attributes.resourceRequest) return pathMatches(rule, attributes.path);
  return (
    contains(rule.apiGroups, attributes.group) &&
    resourceMatches(rule, attributes.resource, attributes.subresource) &&
    (rule.resourceNames === undefined ||
      rule.resourceNames.length === 0 ||
      rule.resourceNames.includes(attributes.name))
  );
}
