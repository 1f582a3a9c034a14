import { loadBalancerAddresses } from '../../table/lists';
import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import type { KubeObject } from '../../object';
import { validateIngress, validateIngressStatusUpdate, validateIngressUpdate } from '../../validation/ingress';
import { defineKind } from '../define-kind';
import { listAt, stringAt } from '../field-values';
import { emptyAsNull, keepSpec, keepStatus, resetStatus } from '../strategies';
import { statusSubresource } from '../subresources';
import { ingressFromV1, ingressToV1 } from './ingress-conversion';

const MAX_HOSTS = 3;

/** Only the rules before the third host are looked at; what stands behind it is counted, with a host or without. */
function hosts(ingress: KubeObject): string {
  const rules = listAt(ingress, 'spec', 'rules').map((rule) => stringAt(rule, 'host'));
  const named = rules.filter((host) => host !== '').slice(0, MAX_HOSTS);
  if (named.length === 0) return '*';
  const lastShown = named.length < MAX_HOSTS ? rules.length : nthNamed(rules, MAX_HOSTS);
  return rules.length > lastShown ? `${named.join(',')} + ${rules.length - MAX_HOSTS} more...` : named.join(',');
}

/** How many rules it takes to find `wanted` hosts. */
function nthNamed(rules: readonly string[], wanted: number): number {
  let found = 0;
  return rules.findIndex((host) => host !== '' && ++found === wanted) + 1;
}

const betaVersion = {
  version: 'v1beta1',
  convert: { toStorage: ingressToV1, fromStorage: ingressFromV1 },
} as const;

const resetBalancer = resetStatus({ loadBalancer: {} });
const emptyPaths = emptyAsNull('spec.rules.*.http.paths');

const REPLACEMENT = 'networking.k8s.io/v1 Ingress';

export const ingress = defineKind({
  group: 'networking.k8s.io',
  kind: 'Ingress',
  resource: 'ingresses',
  shortNames: ['ing'],
  namespaced: true,
  versions: [
    'v1',
    { ...betaVersion, lifecycle: { deprecated: '1.19', removed: '1.22', replacement: REPLACEMENT } },
    {
      ...betaVersion,
      group: 'extensions',
      lifecycle: { deprecated: '1.14', removed: '1.22', replacement: REPLACEMENT },
    },
  ],
  writtenVersion: 'v1beta1',
  storagePrefix: 'ingress',
  errorGroup: 'extensions',
  strategy: {
    prepareForCreate: (object) => emptyPaths(resetBalancer(object)),
    prepareForUpdate: (object, old) => emptyPaths(keepStatus(object, old)),
    validateCreate: validateIngress,
    validateUpdate: validateIngressUpdate,
  },
  subresources: [statusSubresource({ prepareForUpdate: keepSpec, validateUpdate: validateIngressStatusUpdate })],
  tracksGeneration: true,
  table: tableOf([
    nameColumn,
    column('Class', 'The ingress class.', (object) => stringAt(object, 'spec', 'ingressClassName') || '<none>'),
    column('Hosts', 'The hosts that are served.', hosts),
    column('Address', 'Where the load balancer is reached.', (object) => loadBalancerAddresses(object['status'])),
    column('Ports', 'The ports that are served.', (object) =>
      listAt(object, 'spec', 'tls').length > 0 ? '80, 443' : '80',
    ),
    ageColumn,
  ]),
});
