import { defineKind } from '../define-kind';

export const subjectAccessReview = defineKind({
  group: 'authorization.k8s.io',
  kind: 'SubjectAccessReview',
  resource: 'subjectaccessreviews',
  namespaced: false,
  versions: [
    'v1',
    {
      version: 'v1beta1',
      lifecycle: { deprecated: '1.19', removed: '1.22', replacement: 'authorization.k8s.io/v1 SubjectAccessReview' },
    },
  ],
  verbs: ['create'],
  stored: false,
});
