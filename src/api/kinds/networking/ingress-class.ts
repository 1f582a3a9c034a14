import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import type { KubeObject } from '../../object';
import { validateIngressClass, validateIngressClassUpdate } from '../../validation/ingress-class';
import { defineKind } from '../define-kind';
import { isPlainMap, stringAt, valueAt } from '../field-values';
import { withFields } from '../strategies';

function parameters(ingressClass: KubeObject): string {
  const reference = valueAt(ingressClass, 'spec', 'parameters') ?? undefined;
  if (reference === undefined) return '<none>';
  const group = valueAt(reference, 'apiGroup');
  const kind = stringAt(reference, 'kind');
  return `${typeof group === 'string' ? `${kind}.${group}` : kind}/${stringAt(reference, 'name')}`;
}

/** The parameters of a class are those of the whole cluster unless they name a namespace. */
function defaultScope(object: KubeObject): KubeObject {
  const reference = valueAt(object, 'spec', 'parameters');
  if (!isPlainMap(reference)) return object;
  return withFields(object, 'spec', { parameters: { ...reference, scope: reference['scope'] ?? 'Cluster' } });
}

export const ingressClass = defineKind({
  group: 'networking.k8s.io',
  kind: 'IngressClass',
  resource: 'ingressclasses',
  namespaced: false,
  versions: [
    'v1',
    {
      version: 'v1beta1',
      // The name of the replacement is the list's, as clients have always been told.
      lifecycle: { deprecated: '1.19', removed: '1.22', replacement: 'networking.k8s.io/v1 IngressClassList' },
    },
  ],
  storageVersion: 'v1beta1',
  tracksGeneration: true,
  applyDefaults: defaultScope,
  strategy: { validateCreate: validateIngressClass, validateUpdate: validateIngressClassUpdate },
  table: tableOf([
    nameColumn,
    column('Controller', 'The controller that serves the class.', (object) => stringAt(object, 'spec', 'controller')),
    column('Parameters', 'Where the controller finds its configuration.', parameters),
    ageColumn,
  ]),
});
