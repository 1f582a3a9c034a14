import { holds, matchesLabels, readInt64, type LabelRequirement, type Labels } from './label-selector';

/** Up to so many requirements are looked at one by one. */
const FEW_REQUIREMENTS = 8;

/** All that a selector says of a key, if it says more than one thing. */
interface KeyRule {
  readonly key: string;
  /** The label must be there. */
  isNeeded: boolean;
  /** It must not be there. */
  isForbidden: boolean;
  /** Absent: any value. */
  allowed: ReadonlySet<string> | undefined;
  readonly refused: Set<string>;
  above: bigint | undefined;
  below: bigint | undefined;
}

/** Of most keys a selector says one thing: with tens of thousands of them, a rule for each would cost more than all else. */
type Rules = ReadonlyMap<string, LabelRequirement | KeyRule>;

/** What has labels; undefined: so many that only those are read that are asked for. */
export interface Labelled {
  readonly labels: Labels | undefined;
  pickLabels(keys: Iterable<string>): Labels;
}

/**
 * Whether all requirements hold, as `matchesLabels` says; but what a look costs goes by the labels of the object and not by
 * the length of the selector, which the client chooses.
 */
export function labelMatcher(requirements: readonly LabelRequirement[]): (object: Labelled) => boolean {
  return requirements.length <= FEW_REQUIREMENTS ? matcherOfFew(requirements) : matcherOfRules(rulesOf(requirements));
}

function matcherOfFew(requirements: readonly LabelRequirement[]): (object: Labelled) => boolean {
  const keys = new Set(requirements.map(({ key }) => key));
  return (object) => matchesLabels(requirements, object.labels ?? object.pickLabels(keys));
}

function matcherOfRules(rules: Rules): (object: Labelled) => boolean {
  const needed: string[] = [];
  for (const rule of rules.values()) if (needsLabel(rule)) needed.push(rule.key);
  return (object) => {
    const labels = object.labels ?? object.pickLabels(rules.keys());
    // One more than the object has, at most: then one is missing.
    for (const key of needed) if (!Object.hasOwn(labels, key)) return false;
    for (const key of Object.keys(labels)) {
      const rule = rules.get(key);
      if (rule !== undefined && !('operator' in rule ? holds(rule, labels) : admits(rule, labels[key] as string))) {
        return false;
      }
    }
    return true;
  };
}

function rulesOf(requirements: readonly LabelRequirement[]): Rules {
  const rules = new Map<string, LabelRequirement | KeyRule>();
  for (const requirement of requirements) {
    const { key } = requirement;
    const earlier = rules.get(key);
    if (earlier === undefined) {
      rules.set(key, requirement);
    } else if ('operator' in earlier) {
      const rule = emptyRule(key);
      addTo(rule, earlier);
      addTo(rule, requirement);
      rules.set(key, rule);
    } else {
      addTo(earlier, requirement);
    }
  }
  return rules;
}

function emptyRule(key: string): KeyRule {
  return {
    key,
    isNeeded: false,
    isForbidden: false,
    allowed: undefined,
    refused: new Set(),
    above: undefined,
    below: undefined,
  };
}

function needsLabel(rule: LabelRequirement | KeyRule): boolean {
  return 'operator' in rule ? !REFUSING.has(rule.operator) : rule.isNeeded;
}

const REFUSING: ReadonlySet<LabelRequirement['operator']> = new Set(['!=', 'notin', '!']);

function addTo(rule: KeyRule, { operator, values }: LabelRequirement): void {
  if (!REFUSING.has(operator)) rule.isNeeded = true;
  switch (operator) {
    case '!=':
    case 'notin':
      for (const value of values) rule.refused.add(value);
      return;
    case '!':
      rule.isForbidden = true;
      return;
    case 'exists':
      return;
    case '=':
    case '==':
    case 'in': {
      const { allowed } = rule;
      rule.allowed = new Set(allowed === undefined ? values : values.filter((value) => allowed.has(value)));
      return;
    }
    case '>':
    case '<': {
      // The parser lets nothing else through.
      const bound = readInt64(values[0] ?? '') ?? 0n;
      if (operator === '>') rule.above = rule.above === undefined || bound > rule.above ? bound : rule.above;
      else rule.below = rule.below === undefined || bound < rule.below ? bound : rule.below;
    }
  }
}

function admits({ isForbidden, allowed, refused, above, below }: KeyRule, value: string): boolean {
  if (isForbidden || refused.has(value) || allowed?.has(value) === false) return false;
  if (above === undefined && below === undefined) return true;
  const number = readInt64(value);
  if (number === undefined) return false;
  return (above === undefined || number > above) && (below === undefined || number < below);
}
