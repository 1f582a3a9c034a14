import { ageColumn, column, nameColumn, tableOf, wideColumn } from '../../table/table';
import type { KubeObject } from '../../object';
import { isPlainMap, listAt, mapAt, stringAt } from '../field-values';

const RBAC_GROUP = 'rbac.authorization.k8s.io';

function defaultSubject(subject: unknown): unknown {
  if (!isPlainMap(subject) || stringAt(subject, 'apiGroup') !== '') return subject;
  const kind = stringAt(subject, 'kind');
  return kind === 'User' || kind === 'Group' ? { ...subject, apiGroup: RBAC_GROUP } : subject;
}

/** Users, groups and roles belong to the RBAC group unless they say otherwise; service accounts to the core group. */
export function defaultBinding(binding: KubeObject): KubeObject {
  const roleRef = mapAt(binding, 'roleRef');
  return {
    ...binding,
    ...(Array.isArray(binding['subjects']) ? { subjects: listAt(binding, 'subjects').map(defaultSubject) } : {}),
    roleRef: { ...roleRef, apiGroup: stringAt(roleRef, 'apiGroup') || RBAC_GROUP },
  };
}

function subjects(kind: string): (binding: KubeObject) => string {
  return (binding) =>
    listAt(binding, 'subjects')
      .filter((subject) => stringAt(subject, 'kind') === kind)
      .map((subject) => {
        const name = stringAt(subject, 'name');
        return kind === 'ServiceAccount' ? `${stringAt(subject, 'namespace')}/${name}` : name;
      })
      .join(', ');
}

export const bindingTable = tableOf([
  nameColumn,
  column(
    'Role',
    'The role that is given.',
    (object) => `${stringAt(object, 'roleRef', 'kind')}/${stringAt(object, 'roleRef', 'name')}`,
  ),
  ageColumn,
  wideColumn('Users', 'The users who have the role.', subjects('User')),
  wideColumn('Groups', 'The groups that have the role.', subjects('Group')),
  wideColumn('ServiceAccounts', 'The service accounts that have the role.', subjects('ServiceAccount')),
]);
