import { WorkBudget } from '../api/work-budget';
import type { PolicyRule } from './rbac-rules';

/** A rule that names more combinations is compared whole, not looked up by what it names. */
const MOST_INDEXED = 64;
/** One short rule of a thousand verbs, resources and names each stands for a billion of permissions. */
const MAX_COMPARISONS = 1_000_000;
const ALL = '*';

type Lists = Readonly<
  Record<'verbs' | 'apiGroups' | 'resources' | 'resourceNames' | 'nonResourceURLs', readonly string[]>
>;

function listsOf({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): Lists {
  return {
    verbs: verbs ?? [],
    apiGroups: apiGroups ?? [],
    resources: resources ?? [],
    resourceNames: resourceNames ?? [],
    nonResourceURLs: nonResourceURLs ?? [],
  };
}

function countAtoms({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: Lists): number {
  const names = Math.max(resourceNames.length, 1);
  return verbs.length * (nonResourceURLs.length + apiGroups.length * resources.length * names);
}

/** A rule split so far that it names one verb, and one resource of one group or one path. */
function atomsOf({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: Lists): readonly PolicyRule[] {
  const names = resourceNames.length === 0 ? [undefined] : resourceNames;
  return verbs.flatMap((verb) => [
    ...nonResourceURLs.map((path) => ({ verbs: [verb], nonResourceURLs: [path] })),
    ...apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        names.map((name) => ({
          verbs: [verb],
          apiGroups: [group],
          resources: [resource],
          ...(name === undefined ? {} : { resourceNames: [name] }),
        })),
      ),
    ),
  ]);
}

function keyOf(verb: string, group: string, resource: string, name: string | undefined): string {
  return JSON.stringify([verb, group, resource, name]);
}

/** What stands for a resource in rules: itself, all, and for `pods/log` the `log` of all. */
function formsOfResource(resource: string): readonly string[] {
  const slash = resource.indexOf('/');
  return slash < 0 ? [resource, ALL] : [resource, ALL, `${ALL}${resource.slice(slash)}`];
}

/** A rule that names many things, with what it takes to look them up. */
class WideRule {
  private readonly verbs: ReadonlySet<string>;
  private readonly apiGroups: ReadonlySet<string>;
  private readonly resources: ReadonlySet<string>;
  private readonly resourceNames: ReadonlySet<string>;
  private readonly paths: PathPatterns;

  constructor(rule: Lists) {
    this.verbs = new Set(rule.verbs);
    this.apiGroups = new Set(rule.apiGroups);
    this.resources = new Set(rule.resources);
    this.resourceNames = new Set(rule.resourceNames);
    this.paths = new PathPatterns(rule.nonResourceURLs);
  }

  /** All that the rule permits. */
  covers({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: Lists, budget: WorkBudget): boolean {
    budget.spend(1 + verbs.length);
    if (!verbs.every((verb) => this.verbs.has(ALL) || this.verbs.has(verb))) return false;
    budget.spend(apiGroups.length + nonResourceURLs.length);
    if (!nonResourceURLs.every((path) => this.paths.match(path))) return false;
    if (apiGroups.length === 0 || resources.length === 0) return true;
    if (!apiGroups.every((group) => this.apiGroups.has(ALL) || this.apiGroups.has(group))) return false;
    budget.spend(resources.length + resourceNames.length);
    if (!resources.every((one) => formsOfResource(one).some((form) => this.resources.has(form)))) return false;
    if (this.resourceNames.size === 0) return true;
    return resourceNames.length > 0 && resourceNames.every((name) => this.resourceNames.has(name));
  }
}

/** Paths of a rule: whole ones, and with a star at their end the beginnings of others. */
class PathPatterns {
  private readonly patterns: ReadonlySet<string>;
  private readonly lengths: readonly number[];

  constructor(patterns: readonly string[]) {
    this.patterns = new Set(patterns);
    const beginnings = patterns.filter((pattern) => pattern.endsWith(ALL));
    this.lengths = [...new Set(beginnings.map(({ length }) => length - 1))];
  }

  match(path: string): boolean {
    if (this.patterns.has(path)) return true;
    return this.lengths.some((length) => length <= path.length && this.patterns.has(path.slice(0, length) + ALL));
  }
}

/** The permissions of a user. */
class HeldRules {
  private readonly atoms = new Set<string>();
  private readonly wide: readonly WideRule[];

  constructor(owned: readonly PolicyRule[]) {
    const wide: WideRule[] = [];
    for (const lists of owned.map(listsOf)) {
      const isNarrow = countAtoms(lists) <= MOST_INDEXED && lists.nonResourceURLs.length === 0;
      if (isNarrow) this.index(lists);
      if (!isNarrow || lists.resources.includes(ALL)) wide.push(new WideRule(lists));
    }
    this.wide = wide;
  }

  private index({ verbs, apiGroups, resources, resourceNames }: Lists): void {
    const names = resourceNames.length === 0 ? [undefined] : resourceNames;
    for (const verb of verbs) {
      for (const group of apiGroups) {
        for (const resource of resources) {
          for (const name of names) this.atoms.add(keyOf(verb, group, resource, name));
        }
      }
    }
  }

  covers(lists: Lists, budget: WorkBudget): boolean {
    return this.wide.some((rule) => rule.covers(lists, budget));
  }

  coversAtom(atom: PolicyRule, budget: WorkBudget): boolean {
    const { verbs = [], apiGroups = [], resources = [], resourceNames = [] } = atom;
    for (const verb of [...verbs, ALL]) {
      for (const group of [...apiGroups, ALL]) {
        for (const form of resources.flatMap(formsOfResource)) {
          if (this.atoms.has(keyOf(verb, group, form, undefined))) return true;
          if (resourceNames.some((name) => this.atoms.has(keyOf(verb, group, form, name)))) return true;
        }
      }
    }
    return this.covers(listsOf(atom), budget);
  }
}

/**
 * The parts of `wanted` that `owned` does not permit, each naming one verb and one resource or path. Empty: a user who
 * holds `owned` may hand out `wanted` (escalation), and a role with `owned` needs nothing added (reconciliation). Throws a 413
 * when the rules name too many combinations to tell.
 */
export function uncoveredRules(owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  const held = new HeldRules(owned);
  const budget = new WorkBudget(MAX_COMPARISONS, 'its rules name too many combinations of verbs, resources and names');
  return wanted.flatMap((rule) => {
    const lists = listsOf(rule);
    if (held.covers(lists, budget)) return [];
    budget.spend(countAtoms(lists));
    return atomsOf(lists).filter((atom) => !held.coversAtom(atom, budget));
  });
}
