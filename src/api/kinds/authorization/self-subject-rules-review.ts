import { defineKind } from '../define-kind';

export const selfSubjectRulesReview = defineKind({
  group: 'authorization.k8s.io',
  kind: 'SelfSubjectRulesReview',
  resource: 'selfsubjectrulesreviews',
  namespaced: false,
  versions: [
    'v1',
    {
      version: 'v1beta1',
      lifecycle: { deprecated: '1.19', removed: '1.22', replacement: 'authorization.k8s.io/v1 SelfSubjectRulesReview' },
    },
  ],
  verbs: ['create'],
  stored: false,
});
