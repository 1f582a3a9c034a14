import { defineKind } from '../define-kind';

export const selfSubjectAccessReview = defineKind({
  group: 'authorization.k8s.io',
  kind: 'SelfSubjectAccessReview',
  resource: 'selfsubjectaccessreviews',
  namespaced: false,
  versions: [
    'v1',
    {
      version: 'v1beta1',
      lifecycle: {
        deprecated: '1.19',
        removed: '1.22',
        replacement: 'authorization.k8s.io/v1 SelfSubjectAccessReview',
      },
    },
  ],
  verbs: ['create'],
  stored: false,
});
