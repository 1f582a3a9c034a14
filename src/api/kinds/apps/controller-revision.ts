import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import { parseApiVersion, type KubeObject } from '../../object';
import { validateControllerRevision, validateControllerRevisionUpdate } from '../../validation/controller-revision';
import { defineKind } from '../define-kind';
import { valueAt } from '../field-values';

/** `daemonset.apps/name` of the owner that controls the object. */
function controller({ metadata }: KubeObject): string {
  const owner = metadata.ownerReferences?.find((reference) => reference.controller === true);
  if (owner === undefined) return '<none>';
  const { group } = parseApiVersion(owner.apiVersion);
  const kind = owner.kind.toLowerCase();
  return `${group === '' ? kind : `${kind}.${group}`}/${owner.name}`;
}

export const controllerRevision = defineKind({
  group: 'apps',
  kind: 'ControllerRevision',
  resource: 'controllerrevisions',
  namespaced: true,
  versions: ['v1'],
  strategy: { validateCreate: validateControllerRevision, validateUpdate: validateControllerRevisionUpdate },
  table: tableOf([
    nameColumn,
    column('Controller', 'The object whose history this is.', controller),
    column('Revision', 'The number of the revision.', (object) => valueAt(object, 'revision') ?? 0),
    ageColumn,
  ]),
});
