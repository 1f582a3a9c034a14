import type { FieldError } from '../errors/field-error';
import type { KubeObject } from '../object';
import type { PodSpec } from '../schema/generated/core-v1';
import { checkNow } from '../validation/check-each';
import { validateDeletionCost } from '../validation/pod/annotations';
import { validateNoHugePageReferences, validateSinglePageSize } from '../validation/pod/huge-pages';
import { validateNoCrossNamespaceScope } from '../validation/resource-quota';
import { hasMixedProtocols, validateSingleProtocol } from '../validation/service';
import { valueAt } from './field-values';
import type { KindDefinition, Strategy } from './kind-definition';
import { POD_PATHS } from './pod-paths';
import { withSpecStrategies } from './strategies';

type Problems = (object: KubeObject) => readonly FieldError[];

interface GatedRule {
  /** Whether the rule holds with the gate or without it. */
  readonly holdsWhen: boolean;
  /** The problems of objects of a kind; undefined for kinds that the rule does not concern. */
  readonly problemsOf: (kind: string) => Problems | undefined;
  /** Whether an object breaks the rule already and may go on; absent: when it has a problem. */
  readonly isExempt?: (old: KubeObject) => boolean;
}

function ofKind(only: string, problems: Problems): GatedRule['problemsOf'] {
  return (kind) => (kind === only ? problems : undefined);
}

function podSpecAt(object: KubeObject, path: readonly string[]): PodSpec {
  return valueAt(object, ...path, 'spec') ?? {};
}

/** Of pods and templates; the metadata of a template stands flat in the paths of messages. */
function ofDeletionCost(kind: string): Problems | undefined {
  const path = POD_PATHS[kind];
  if (path === undefined) return undefined;
  const field = [...(path.length === 0 ? ['metadata'] : path), 'annotations'].join('.');
  return (object) =>
    validateDeletionCost(
      valueAt(object, ...path, 'metadata', 'annotations') as Readonly<Record<string, string>> | undefined,
      field,
    );
}

function ofHugePageReferences(kind: string): Problems | undefined {
  const path = POD_PATHS[kind];
  return path && ((object) => validateNoHugePageReferences(podSpecAt(object, path), [...path, 'spec'].join('.')));
}

/** What validation refuses besides, depending on a feature gate. */
const GATED_RULES = {
  DownwardAPIHugePages: { holdsWhen: false, problemsOf: ofHugePageReferences },
  HugePageStorageMediumSize: {
    holdsWhen: false,
    problemsOf: ofKind('Pod', (object) => validateSinglePageSize(podSpecAt(object, []), 'spec')),
  },
  MixedProtocolLBService: {
    holdsWhen: false,
    problemsOf: ofKind('Service', validateSingleProtocol),
    isExempt: hasMixedProtocols,
  },
  PodAffinityNamespaceSelector: {
    holdsWhen: false,
    problemsOf: ofKind('ResourceQuota', validateNoCrossNamespaceScope),
  },
  PodDeletionCost: { holdsWhen: true, problemsOf: ofDeletionCost },
} as const satisfies Readonly<Record<string, GatedRule>>;

export type RuleGate = keyof typeof GATED_RULES;

function ruledStrategy(strategy: Strategy, problems: Problems, isExempt: (old: KubeObject) => boolean): Strategy {
  const { validateCreate, validateUpdate } = strategy;
  return {
    ...strategy,
    validateCreate: (object, requested) => [...(validateCreate?.(object, requested) ?? []), ...problems(object)],
    validateUpdate: (object, old, requested) => [
      ...(validateUpdate?.(object, old, requested) ?? []),
      ...(isExempt(old) ? [] : problems(object)),
    ],
  };
}

/** The kind with the rules that hold as its gates are; the definition itself when none of them concerns it. */
export function withGatedRules(definition: KindDefinition, isOn: (gate: RuleGate) => boolean): KindDefinition {
  return (Object.keys(GATED_RULES) as RuleGate[]).reduce((result, gate) => {
    const { holdsWhen, problemsOf, isExempt }: GatedRule = GATED_RULES[gate];
    const problems = isOn(gate) === holdsWhen ? problemsOf(definition.kind) : undefined;
    if (problems === undefined) return result;
    const exempt = isExempt ?? ((old) => checkNow(() => problems(old)).length > 0);
    return withSpecStrategies(result, (strategy) => ruledStrategy(strategy, problems, exempt));
  }, definition);
}
