import { ageColumn, column, nameColumn, tableOf, wideColumn } from '../../table/table';
import type { KubeObject } from '../../object';
import { isPlainMap, listAt, mapAt, stringAt } from '../field-values';
import { RBAC_GROUP, subjectApiVersion } from './binding-conversion';

function defaultSubject(subject: unknown): unknown {
  if (!isPlainMap(subject) || stringAt(subject, 'apiGroup') !== '') return subject;
  const kind = stringAt(subject, 'kind');
  return kind === 'User' || kind === 'Group' ? { ...subject, apiGroup: RBAC_GROUP } : subject;
}

/** v1alpha1 tells where a subject belongs by a group version. */
function defaultAlphaSubject(subject: unknown): unknown {
  if (!isPlainMap(subject) || stringAt(subject, 'apiVersion') !== '') return subject;
  const apiVersion = subjectApiVersion(stringAt(subject, 'kind'));
  return apiVersion === undefined ? subject : { ...subject, apiVersion };
}

/** Users, groups and roles belong to the RBAC group unless they say otherwise; service accounts to the core group. */
export function defaultBinding(binding: KubeObject, version: string): KubeObject {
  const ofVersion = version === 'v1alpha1' ? defaultAlphaSubject : defaultSubject;
  const roleRef = mapAt(binding, 'roleRef');
  return {
    ...binding,
    ...(Array.isArray(binding['subjects']) ? { subjects: listAt(binding, 'subjects').map(ofVersion) } : {}),
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
