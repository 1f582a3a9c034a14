import type { LabelRequirement } from '../../api/selectors/label-selector';
import type { WebhookTarget } from '../../api/webhook-target';
import type { WebhookRule } from './rules';

/** The two plugins, as metrics name them. */
export type WebhookType = 'admit' | 'validating';

/** The versions in which a review can be sent. */
export type ReviewVersion = 'v1' | 'v1beta1';

/** An expression that must hold for the webhook to be called. */
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/** One webhook of a configuration, read once when the configuration changes. */
export interface Webhook {
  readonly type: WebhookType;
  readonly name: string;
  readonly configuration: string;
  /** Tells webhooks apart, also those of one name in configurations of v1beta1. */
  readonly key: string;
  readonly rules: readonly WebhookRule[];
  readonly matchesEquivalents: boolean;
  /** All must hold; undefined matches nothing. */
  readonly namespaceSelector: readonly LabelRequirement[] | undefined;
  readonly objectSelector: readonly LabelRequirement[] | undefined;
  /** Not empty: whether it applies has to be found out by evaluating them. */
  readonly matchConditions: readonly MatchCondition[];
  /** What of it cannot be understood; it fails for each request that it may be about. */
  readonly problem: string | undefined;
  readonly ignoresFailures: boolean;
  readonly hasSideEffects: boolean;
  readonly timeoutMs: number;
  readonly isReinvocable: boolean;
  /** Undefined: it takes none that the server can send. */
  readonly reviewVersion: ReviewVersion | undefined;
  readonly target: WebhookTarget;
}
