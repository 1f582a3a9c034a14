import { defineKind } from '../define-kind';

export const localSubjectAccessReview = defineKind({
  group: 'authorization.k8s.io',
  kind: 'LocalSubjectAccessReview',
  resource: 'localsubjectaccessreviews',
  namespaced: true,
  versions: [
    'v1',
    {
      version: 'v1beta1',
      lifecycle: {
        deprecated: '1.19',
        removed: '1.22',
        replacement: 'authorization.k8s.io/v1 LocalSubjectAccessReview',
      },
    },
  ],
  verbs: ['create'],
  stored: false,
});
