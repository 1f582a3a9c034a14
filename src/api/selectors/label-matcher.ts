import { matchesLabels, readInt64, type LabelRequirement, type Labels } from './label-selector';

/** Up to so many requirements are looked at one by one. */
const FEW_REQUIREMENTS = 8;

/** All that a selector says of one key. */
interface KeyRule {
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
  const matches = plainMatcher(requirements);
  const keys = new Set(requirements.map(({ key }) => key));
  return (object) => matches(object.labels ?? object.pickLabels(keys));
}

function plainMatcher(requirements: readonly LabelRequirement[]): (labels: Labels) => boolean {
  if (requirements.length <= FEW_REQUIREMENTS) return (labels) => matchesLabels(requirements, labels);
  const rules = new Map<string, KeyRule>();
  for (const requirement of requirements) addTo(ruleOf(rules, requirement.key), requirement);
  const needed = [...rules].filter(([, rule]) => rule.isNeeded).map(([key]) => key);
  return (labels) => {
    // One more than the object has, at most: then one is missing.
    for (const key of needed) if (!Object.hasOwn(labels, key)) return false;
    for (const key of Object.keys(labels)) {
      const rule = rules.get(key);
      if (rule !== undefined && !admits(rule, labels[key] as string)) return false;
    }
    return true;
  };
}

function ruleOf(rules: Map<string, KeyRule>, key: string): KeyRule {
  let rule = rules.get(key);
  if (rule === undefined) {
    rule = {
      isNeeded: false,
      isForbidden: false,
      allowed: undefined,
      refused: new Set(),
      above: undefined,
      below: undefined,
    };
    rules.set(key, rule);
  }
  return rule;
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
