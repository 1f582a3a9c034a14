import type { UserInfo } from '../api/user';
import { joinErrors } from './attributes';
import type { PolicyRule } from './rbac-rules';

/** What a user may do in a namespace, as far as an authorizer can list it (SelfSubjectRulesReview). */
export interface ListedRules {
  readonly rules: readonly PolicyRule[];
  /** There is more that cannot be listed. */
  readonly incomplete: boolean;
  readonly error?: string;
}

export type RuleLister = (user: UserInfo, namespace: string) => ListedRules;

/** For `AlwaysAllow`. */
export const listEverything: RuleLister = () => ({
  rules: [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    { verbs: ['*'], nonResourceURLs: ['*'] },
  ],
  incomplete: false,
});

/** For `Webhook`: only the peer knows. */
export const listNothingOfWebhook: RuleLister = () => ({
  rules: [],
  incomplete: true,
  error: 'webhook authorizer does not support user rule resolution',
});

/** The rules of all authorizers, in their order. */
export function listRulesOfAll(listers: readonly RuleLister[]): RuleLister {
  return (user, namespace) => {
    const lists = listers.map((list) => list(user, namespace));
    const errors = lists.flatMap(({ error }) => (error === undefined ? [] : [error]));
    return {
      rules: lists.flatMap(({ rules }) => rules),
      incomplete: lists.some(({ incomplete }) => incomplete),
      ...(errors.length === 0 ? {} : { error: joinErrors(errors) }),
    };
  };
}
