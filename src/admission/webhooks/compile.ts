import type { KubeObject } from '../../api/object';
import type { MutatingWebhook, ValidatingWebhook } from '../../api/schema/generated/admissionregistration-v1';
import { selectorRequirements, type LabelRequirement } from '../../api/selectors/label-selector';
import { webhookTarget } from '../../api/webhook-target';
import { compileRule } from './rules';
import type { ReviewVersion, Webhook, WebhookType } from './webhook';

type SentWebhook = ValidatingWebhook & Pick<MutatingWebhook, 'reinvocationPolicy'>;

/** Of v1; the defaults of either version are in the stored object. */
const DEFAULT_TIMEOUT_SECONDS = 10;
const WITHOUT_SIDE_EFFECTS: ReadonlySet<string> = new Set(['None', 'NoneOnDryRun']);

/**
 * The webhooks of a ValidatingWebhookConfiguration or MutatingWebhookConfiguration, in their order. Never throws: what cannot
 * be understood, because another writer has stored it, is a problem of the webhook.
 */
export function compileConfiguration(configuration: KubeObject, type: WebhookType): readonly Webhook[] {
  const hooks = (configuration['webhooks'] ?? []) as readonly SentWebhook[];
  const name = configuration.metadata.name ?? '';
  const seen = new Map<string, number>();
  return hooks.map((hook) => {
    const repetition = seen.get(hook.name ?? '') ?? 0;
    seen.set(hook.name ?? '', repetition + 1);
    return compileWebhook(hook, type, name, repetition);
  });
}

function compileWebhook(hook: SentWebhook, type: WebhookType, configuration: string, repetition: number): Webhook {
  const name = hook.name ?? '';
  const namespaceSelector = compileSelector(hook.namespaceSelector);
  const objectSelector = compileSelector(hook.objectSelector);
  return {
    type,
    name,
    configuration,
    key: `${configuration}/${name}/${repetition}`,
    rules: (hook.rules ?? []).map(compileRule),
    matchesEquivalents: hook.matchPolicy === 'Equivalent',
    namespaceSelector: namespaceSelector.requirements,
    objectSelector: objectSelector.requirements,
    matchConditions: (hook.matchConditions ?? []).map((condition) => ({
      name: condition.name ?? '',
      expression: condition.expression ?? '',
    })),
    problem: namespaceSelector.problem ?? objectSelector.problem,
    ignoresFailures: hook.failurePolicy === 'Ignore',
    hasSideEffects: !WITHOUT_SIDE_EFFECTS.has(hook.sideEffects ?? ''),
    timeoutMs: Number(hook.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000,
    isReinvocable: hook.reinvocationPolicy === 'IfNeeded',
    reviewVersion: (hook.admissionReviewVersions ?? []).find(isReviewVersion),
    target: webhookTarget(hook.clientConfig ?? {}),
  };
}

interface CompiledSelector {
  readonly requirements: readonly LabelRequirement[] | undefined;
  readonly problem?: string;
}

function compileSelector(selector: object | null | undefined): CompiledSelector {
  try {
    return { requirements: selectorRequirements(selector) };
  } catch (error) {
    // Everything may be meant.
    return { requirements: [], problem: (error as Error).message };
  }
}

function isReviewVersion(version: string): version is ReviewVersion {
  return version === 'v1' || version === 'v1beta1';
}
