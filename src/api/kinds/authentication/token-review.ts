import { defineKind } from '../define-kind';

export const tokenReview = defineKind({
  group: 'authentication.k8s.io',
  kind: 'TokenReview',
  resource: 'tokenreviews',
  namespaced: false,
  versions: [
    'v1',
    {
      version: 'v1beta1',
      lifecycle: { deprecated: '1.19', removed: '1.22', replacement: 'authentication.k8s.io/v1 TokenReview' },
    },
  ],
  verbs: ['create'],
  stored: false,
});
