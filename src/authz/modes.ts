import { MASTERS_GROUP } from '../api/user';
import { joinErrors, type Authorization, type Authorizer } from './attributes';

const ALLOWED: Authorization = { decision: 'allow', reason: '' };

/** `--authorization-mode=AlwaysAllow`. */
export const alwaysAllow: Authorizer = async () => ALLOWED;

/** `--authorization-mode=AlwaysDeny`. */
export const alwaysDeny: Authorizer = async () => ({
  decision: 'no-opinion',
  reason: 'Everything is forbidden.',
});

/**
 * The authorizers in order: the first that allows or denies decides; when none does, the request is refused with the
 * reasons of all (spec, "Authorization" 3). Members of system:masters are allowed before any of them is asked. An
 * authorizer that could not be asked has no opinion; its error comes with the refusal if no other decides.
 */
export function authorizeInOrder(authorizers: readonly Authorizer[]): Authorizer {
  return async (attributes): Promise<Authorization> => {
    if (attributes.user.groups.includes(MASTERS_GROUP)) return ALLOWED;
    const reasons: string[] = [];
    const errors: string[] = [];
    for (const authorize of authorizers) {
      const answer = await authorize(attributes);
      if (answer.decision !== 'no-opinion') return answer;
      if (answer.reason !== '') reasons.push(answer.reason);
      if (answer.error !== undefined) errors.push(answer.error);
    }
    return {
      decision: 'no-opinion',
      reason: reasons.join('\n'),
      ...(errors.length === 0 ? {} : { error: joinErrors(errors) }),
    };
  };
}
