import { stringifyExact } from '../../api/codec/exact-json';
import type { AdmissionAttributes } from '../plugin';
import type { Webhook } from './webhook';

/** One call of a mutating webhook, as the audit log tells it (spec, "Events"). */
export interface AnnotatedCall {
  readonly webhook: Webhook;
  readonly round: number;
  readonly position: number;
}

function place({ round, position }: AnnotatedCall): string {
  return `round_${round}_index_${position}`;
}

function subject({ webhook: { configuration, name } }: AnnotatedCall): object {
  return { configuration, webhook: name };
}

/** Told from the audit level Metadata on. */
export function mutationAnnotation({ annotate }: AdmissionAttributes, call: AnnotatedCall, mutated: boolean): void {
  annotate(`mutation.webhook.admission.k8s.io/${place(call)}`, stringifyExact({ ...subject(call), mutated }));
}

/** Told from the audit level Request on: the log leaves it out below. */
export function patchAnnotation({ annotate }: AdmissionAttributes, call: AnnotatedCall, patch: Buffer): void {
  // As it came: it may be large, and may not be wanted.
  const value = `${stringifyExact(subject(call)).slice(0, -1)},"patch":${patch.toString('utf8')},"patchType":"JSONPatch"}`;
  annotate(`${PATCH_ANNOTATION_PREFIX}${place(call)}`, value);
}

/** What such annotations begin with. */
export const PATCH_ANNOTATION_PREFIX = 'patch.webhook.admission.k8s.io/';
