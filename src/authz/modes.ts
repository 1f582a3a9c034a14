import { whenKnown, type MaybePromise } from '../api/maybe-promise';
import { MASTERS_GROUP } from '../api/user';
import { joinErrors, type Attributes, type Authorization, type Authorizer } from './attributes';

const ALLOWED: Authorization = { decision: 'allow', reason: '' };

/** `--authorization-mode=AlwaysAllow`. */
export const alwaysAllow: Authorizer = () => ALLOWED;

/** `--authorization-mode=AlwaysDeny`. */
export const alwaysDeny: Authorizer = () => ({
  decision: 'no-opinion',
  reason: 'Everything is forbidden.',
});

/**
 * The authorizers in order: the first that allows or denies decides; when none does, the request is refused with the
 * reasons of all (spec, "Authorization" 3). Members of system:masters are allowed before any of them is asked. An
 * authorizer that could not be asked has no opinion; its error comes with the refusal if no other decides.
 */
export function authorizeInOrder(authorizers: readonly Authorizer[]): Authorizer {
  const askFrom = (index: number, attributes: Attributes, before: Refusals): MaybePromise<Authorization> => {
    const authorize = authorizers[index];
    if (authorize === undefined) return nobodyAllows(before);
    return whenKnown(authorize(attributes), (response) =>
      response.decision === 'no-opinion' ? askFrom(index + 1, attributes, joined(before, response)) : response,
    );
  };
  return (attributes) =>
    attributes.user.groups.includes(MASTERS_GROUP) ? ALLOWED : askFrom(0, attributes, NO_REFUSALS);
}

/** What those said who had no opinion. */
interface Refusals {
  readonly reasons: readonly string[];
  readonly errors: readonly string[];
}

const NO_REFUSALS: Refusals = { reasons: [], errors: [] };

function joined(before: Refusals, { reason, error }: Authorization): Refusals {
  if (reason === '' && error === undefined) return before;
  return {
    reasons: reason === '' ? before.reasons : [...before.reasons, reason],
    errors: error === undefined ? before.errors : [...before.errors, error],
  };
}

function nobodyAllows({ reasons, errors }: Refusals): Authorization {
  return {
    decision: 'no-opinion',
    reason: reasons.join('\n'),
    ...(errors.length === 0 ? {} : { error: joinErrors(errors) }),
  };
}
