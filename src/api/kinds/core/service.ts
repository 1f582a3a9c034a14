import { loadBalancerAddresses } from '../../table/lists';
import { plainSelectorColumn } from '../../table/workload-columns';
import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import type { KubeObject } from '../../object';
import { defineKind } from '../define-kind';
import { listAt, numberAt, stringAt } from '../field-values';
import { dns1035LabelName } from '../../validation/names';
import { validateServiceStatusUpdate } from '../../validation/service-update';
import { keepSpec } from '../strategies';
import { connectSubresource, PROXY_VERBS, statusSubresource } from '../subresources';
import { defaultService, serviceStrategy, withListedAddress } from './service-strategy';

function clusterIp(service: KubeObject): string {
  const [first] = listAt(service, 'spec', 'clusterIPs');
  return typeof first === 'string' && first !== '' ? first : '<none>';
}

function externalIps(service: KubeObject): string {
  const own = listAt(service, 'spec', 'externalIPs').map(String);
  switch (stringAt(service, 'spec', 'type')) {
    case 'ExternalName':
      return stringAt(service, 'spec', 'externalName');
    case 'LoadBalancer': {
      const balanced = loadBalancerAddresses(service['status']);
      return [...(balanced === '' ? [] : [balanced]), ...own].join(',') || '<pending>';
    }
    default:
      return own.join(',') || '<none>';
  }
}

function portText(port: unknown): string {
  const nodePort = numberAt(port, 'nodePort');
  const numbers = nodePort > 0 ? `${numberAt(port, 'port')}:${nodePort}` : String(numberAt(port, 'port'));
  return `${numbers}/${stringAt(port, 'protocol')}`;
}

export const service = defineKind({
  group: '',
  kind: 'Service',
  resource: 'services',
  shortNames: ['svc'],
  categories: ['all'],
  namespaced: true,
  versions: ['v1'],
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  storagePrefix: 'services/specs',
  deleteReturnsObject: false,
  validateName: dns1035LabelName,
  applyDefaults: defaultService,
  completeStored: withListedAddress,
  strategy: serviceStrategy,
  subresources: [
    connectSubresource('proxy', 'ServiceProxyOptions', PROXY_VERBS),
    statusSubresource({ prepareForUpdate: keepSpec, validateUpdate: validateServiceStatusUpdate }),
  ],
  table: tableOf([
    nameColumn,
    column('Type', 'How the service is reached.', (object) => stringAt(object, 'spec', 'type')),
    column('Cluster-IP', 'The address inside the cluster.', clusterIp),
    column('External-IP', 'The addresses outside the cluster.', externalIps),
    column(
      'Port(s)',
      'The ports, their node ports and protocols.',
      (object) => listAt(object, 'spec', 'ports').map(portText).join(',') || '<none>',
    ),
    ageColumn,
    plainSelectorColumn('spec', 'selector'),
  ]),
});
