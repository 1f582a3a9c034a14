import type { RuleWithOperations } from '../../api/schema/generated/admissionregistration-v1';
import type { Operation } from '../plugin';

/** What a rule is asked about. */
export interface RuleSubject {
  readonly operation: Operation;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  /** In a namespace; a namespace itself is not. */
  readonly namespaced: boolean;
}

/** A rule of a webhook, compiled (spec, "Webhook configuration kinds"). */
export interface WebhookRule {
  readonly operations: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  readonly versions: ReadonlySet<string>;
  /** `pods/*` has `*` as its subresource, `pods` the empty one. */
  readonly resources: readonly { readonly resource: string; readonly subresource: string }[];
  readonly scope: string;
}

const ALL = '*';

export function compileRule(rule: RuleWithOperations): WebhookRule {
  return {
    operations: new Set(rule.operations),
    groups: new Set(rule.apiGroups),
    versions: new Set(rule.apiVersions),
    resources: (rule.resources ?? []).map((entry) => {
      const slash = entry.indexOf('/');
      return slash < 0
        ? { resource: entry, subresource: '' }
        : { resource: entry.slice(0, slash), subresource: entry.slice(slash + 1) };
    }),
    scope: rule.scope ?? ALL,
  };
}

function includes(names: ReadonlySet<string>, name: string): boolean {
  return names.has(ALL) || names.has(name);
}

function matchesScope(scope: string, namespaced: boolean): boolean {
  switch (scope) {
    case ALL:
      return true;
    case 'Namespaced':
      return namespaced;
    case 'Cluster':
      return !namespaced;
    default:
      return false;
  }
}

/** Whether the rule is about such requests. */
export function matchesRule(rule: WebhookRule, subject: RuleSubject): boolean {
  return (
    matchesScope(rule.scope, subject.namespaced) &&
    includes(rule.operations, subject.operation) &&
    includes(rule.groups, subject.group) &&
    includes(rule.versions, subject.version) &&
    rule.resources.some(
      ({ resource, subresource }) =>
        (resource === ALL || resource === subject.resource) &&
        (subresource === ALL || subresource === subject.subresource),
    )
  );
}
