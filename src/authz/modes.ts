import { MASTERS_GROUP } from '../api/user';
import type { Authorization, Authorizer } from './attributes';

/** `--authorization-mode=AlwaysAllow`. */
export const alwaysAllow: Authorizer = async () => ({ decision: 'allow', reason: '' });

/** `--authorization-mode=AlwaysDeny`. */
export const alwaysDeny: Authorizer = async () => ({
  decision: 'no-opinion',
  reason: 'Everything is forbidden.',
});

/**
 * The authorizers in order: the first that allows or denies decides; when none does, the request is refused with the
 * reasons of all (spec, "Authorization" 3). Members of system:masters are allowed before any of them is asked.
 */
export function authorizeInOrder(authorizers: readonly Authorizer[]): Authorizer {
  return async (attributes): Promise<Authorization> => {
    if (attributes.user.groups.includes(MASTERS_GROUP)) return { decision: 'allow', reason: '' };
    const reasons: string[] = [];
    for (const authorize of authorizers) {
      const answer = await authorize(attributes);
      if (answer.decision !== 'no-opinion') return answer;
      if (answer.reason !== '') reasons.push(answer.reason);
    }
    return { decision: 'no-opinion', reason: reasons.join('\n') };
  };
}
