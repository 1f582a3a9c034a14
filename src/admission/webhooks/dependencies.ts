import type { CallBackend } from './call';
import type { EvaluateConditions } from './conditions';
import type { NamespaceLabels, ObjectVersions } from '../versions/object-versions';
import type { OutcomeDependencies } from './outcome';

/** What both plugins ask, call and count with. */
export interface WebhookDependencies extends OutcomeDependencies {
  readonly versions: ObjectVersions;
  readonly namespaceLabels: NamespaceLabels;
  readonly callBackend: CallBackend;
  readonly evaluateConditions: EvaluateConditions;
}
