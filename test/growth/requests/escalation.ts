import { holding, roleOf } from './roles';
import { DRY, RBAC, type RequestSubject, names, rulesOn, subject } from './request-subject';

export const ESCALATION: Readonly<Record<string, RequestSubject>> = {
  'rules of a role that its writer holds': subject(
    201,
    'POST',
    (count) => roleOf(rulesOn(names(count))),
    holding((count) => rulesOn(names(count))),
  ),
  'rules of a role that its writer does not hold': subject(
    403,
    'POST',
    (count) => roleOf(rulesOn(names(count, 'x'))),
    holding((count) => rulesOn(names(count))),
  ),
  'names of a rule that its writer holds': subject(
    201,
    'POST',
    (count) => roleOf([{ apiGroups: [''], resources: ['pods'], verbs: ['get'], resourceNames: names(count) }]),
    holding((count) => [{ apiGroups: [''], resources: ['pods'], verbs: ['get'], resourceNames: names(count) }]),
  ),
  'verbs and resources of a rule that its writer holds': subject(
    201,
    'POST',
    (count) =>
      roleOf([{ apiGroups: names(count), resources: names(count), verbs: names(count), resourceNames: names(count) }]),
    holding(() => [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]),
  ),
  'verbs and resources of a rule that its writer does not hold': subject(
    [403, 413],
    'POST',
    (count) => roleOf([{ apiGroups: names(count), resources: names(count), verbs: names(count) }]),
    holding(() => []),
    { smallest: 2, doublings: 6 },
  ),
  'rules of a role that is bound': subject(
    201,
    'POST',
    () => ({
      path: `${RBAC}/namespaces/default/rolebindings?${DRY}`,
      body: {
        metadata: { name: 'b' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'held' },
        subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'default' }],
      },
      as: 'user',
    }),
    holding((count) => rulesOn(names(count))),
  ),
};
