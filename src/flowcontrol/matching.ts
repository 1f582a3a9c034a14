import { serviceAccountUserName, type UserInfo } from '../api/user';
import type {
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  Subject,
} from '../api/schema/generated/flowcontrol-v1beta1';

/** What flow schemas look at in a request. */
export interface FlowAttributes {
  readonly isResourceRequest: boolean;
  /** For paths that are no resources the method in lower case. */
  readonly verb: string;
  readonly path: string;
  readonly version: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

/** Undefined stands for all. */
type Names = ReadonlySet<string> | undefined;

const ALL = '*';

function namesOf(list: readonly string[] | null | undefined): Names {
  const names = list ?? [];
  return names.includes(ALL) ? undefined : new Set(names);
}

/** Whom some rules are for. */
class Subjects {
  readonly #isForAll: boolean;
  readonly #users = new Set<string>();
  readonly #groups: readonly string[];
  /** What the names of all service accounts of a namespace begin with. */
  readonly #prefixes: readonly string[];

  constructor(subjects: readonly Subject[]) {
    const groups: string[] = [];
    const prefixes: string[] = [];
    for (const { kind, user, group, serviceAccount } of subjects) {
      if (kind === 'User') this.#users.add(user?.name ?? '');
      if (kind === 'Group') groups.push(group?.name ?? '');
      if (kind !== 'ServiceAccount') continue;
      const { namespace = '', name = '' } = serviceAccount ?? {};
      if (name === ALL) prefixes.push(serviceAccountUserName(namespace, ''));
      else this.#users.add(serviceAccountUserName(namespace, name));
    }
    this.#isForAll = this.#users.has(ALL) || groups.includes(ALL);
    this.#groups = groups;
    this.#prefixes = prefixes;
  }

  has({ name, groups }: UserInfo): boolean {
    if (this.#isForAll || this.#users.has(name)) return true;
    for (let index = 0; index < this.#groups.length; index++) if (groups.includes(this.#groups[index]!)) return true;
    for (let index = 0; index < this.#prefixes.length; index++)
      if (name.startsWith(this.#prefixes[index]!)) return true;
    return false;
  }
}

class ResourceRule {
  readonly #verbs: Names;
  readonly #groups: Names;
  readonly #resources: Names;
  readonly #namespaces: Names;
  readonly #clusterScope: boolean;

  constructor(rule: ResourcePolicyRule) {
    this.#verbs = namesOf(rule.verbs);
    this.#groups = namesOf(rule.apiGroups);
    this.#resources = namesOf(rule.resources);
    this.#namespaces = namesOf(rule.namespaces);
    this.#clusterScope = rule.clusterScope === true;
  }

  matches({ verb, group, resource, subresource, namespace }: FlowAttributes): boolean {
    if (this.#verbs?.has(verb) === false || this.#groups?.has(group) === false) return false;
    if (this.#resources?.has(subresource === '' ? resource : `${resource}/${subresource}`) === false) return false;
    return namespace === '' ? this.#clusterScope : this.#namespaces?.has(namespace) !== false;
  }
}

class NonResourceRule {
  readonly #verbs: Names;
  readonly #paths: Names;
  /** Of patterns that end in a star. */
  readonly #prefixes: readonly string[];

  constructor({ verbs, nonResourceURLs }: NonResourcePolicyRule) {
    const urls = nonResourceURLs ?? [];
    this.#verbs = namesOf(verbs);
    this.#paths = namesOf(urls);
    this.#prefixes = urls.filter((url) => url.endsWith(ALL)).map((url) => url.slice(0, -1));
  }

  matches({ verb, path }: FlowAttributes): boolean {
    if (this.#verbs?.has(verb) === false) return false;
    return this.#paths?.has(path) !== false || this.#prefixes.some((prefix) => path.startsWith(prefix));
  }
}

/** Some users, and what they do. */
class Rules {
  readonly #subjects: Subjects;
  readonly #resources: readonly ResourceRule[];
  readonly #paths: readonly NonResourceRule[];

  constructor({ subjects, resourceRules, nonResourceRules }: PolicyRulesWithSubjects) {
    this.#subjects = new Subjects(subjects ?? []);
    this.#resources = (resourceRules ?? []).map((rule) => new ResourceRule(rule));
    this.#paths = (nonResourceRules ?? []).map((rule) => new NonResourceRule(rule));
  }

  matches(attributes: FlowAttributes, user: UserInfo): boolean {
    if (!this.#subjects.has(user)) return false;
    const rules: readonly { matches(attributes: FlowAttributes): boolean }[] = attributes.isResourceRequest
      ? this.#resources
      : this.#paths;
    for (let index = 0; index < rules.length; index++) if (rules[index]!.matches(attributes)) return true;
    return false;
  }
}

/** Tells which requests a flow schema is for. */
export class RequestMatcher {
  readonly #rules: readonly Rules[];

  constructor(rules: readonly PolicyRulesWithSubjects[]) {
    this.#rules = rules.map((one) => new Rules(one));
  }

  matches(attributes: FlowAttributes, user: UserInfo): boolean {
    for (let index = 0; index < this.#rules.length; index++) {
      if (this.#rules[index]!.matches(attributes, user)) return true;
    }
    return false;
  }
}
