import { defineKind } from '../define-kind';

/** Younger than the release that this server implements; `kubectl auth whoami` asks for it. */
export const selfSubjectReview = defineKind({
  group: 'authentication.k8s.io',
  kind: 'SelfSubjectReview',
  resource: 'selfsubjectreviews',
  namespaced: false,
  versions: ['v1'],
  verbs: ['create'],
  stored: false,
});
