import { parseApiVersion, type KubeObject } from '../../object';
import { isPlainMap, listAt, stringAt, type PlainMap } from '../field-values';

/**
 * A subject of v1alpha1 names a group version where one of the later versions, which have one shape, names a group. The
 * kinds that RBAC knows decide the group, whatever the version says.
 */
export const RBAC_GROUP = 'rbac.authorization.k8s.io';
const ALPHA = `${RBAC_GROUP}/v1alpha1`;
const EVERY_USER = '*';
const ALL_AUTHENTICATED: PlainMap = { kind: 'Group', name: 'system:authenticated' };

/** The group version that v1alpha1 gives to subjects of this kind; undefined: of no kind that RBAC knows. */
export function subjectApiVersion(kind: string): string | undefined {
  if (kind === 'ServiceAccount') return 'v1';
  return kind === 'User' || kind === 'Group' ? ALPHA : undefined;
}

/** A text that names no group version (`a/b/c`) names no group either. */
function groupOf(apiVersion: string): string {
  return apiVersion.split('/', 3).length > 2 ? '' : parseApiVersion(apiVersion).group;
}

/** Only in v1alpha1 is there a user that stands for all: everyone who is authenticated. */
function subjectToV1({ apiVersion: _apiVersion, ...subject }: PlainMap, apiVersion: string): PlainMap {
  const kind = stringAt(subject, 'kind');
  const apiGroup = groupOf(subjectApiVersion(kind) ?? apiVersion);
  const isEveryone = kind === 'User' && stringAt(subject, 'name') === EVERY_USER;
  return { ...subject, ...(apiGroup === '' ? {} : { apiGroup }), ...(isEveryone ? ALL_AUTHENTICATED : {}) };
}

function subjectFromV1({ apiGroup: _apiGroup, ...subject }: PlainMap, apiGroup: string): PlainMap {
  const usual = subjectApiVersion(stringAt(subject, 'kind'));
  if (usual !== undefined && groupOf(usual) === apiGroup) return { ...subject, apiVersion: usual };
  // A group of which no version is known.
  return apiGroup === '' ? subject : { ...subject, apiVersion: `${apiGroup}/` };
}

function convertSubjects(binding: KubeObject, convert: (subject: PlainMap) => PlainMap): KubeObject {
  if (!Array.isArray(binding['subjects'])) return binding;
  const subjects = listAt(binding, 'subjects').map((subject) => (isPlainMap(subject) ? convert(subject) : subject));
  return { ...binding, subjects };
}

export function bindingToV1(binding: KubeObject): KubeObject {
  return convertSubjects(binding, (subject) => subjectToV1(subject, stringAt(subject, 'apiVersion')));
}

export function bindingFromV1(binding: KubeObject): KubeObject {
  return convertSubjects(binding, (subject) => subjectFromV1(subject, stringAt(subject, 'apiGroup')));
}
