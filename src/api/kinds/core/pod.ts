import { ageColumn, nameColumn, tableOf } from '../../table/table';
import { defineKind, textField } from '../define-kind';
import { stringAt } from '../field-values';
import { specStrategy } from '../strategies';
import { actionSubresource, connectSubresource, PROXY_VERBS, statusSubresource } from '../subresources';

const nodeName = textField('spec', 'nodeName');

export const pod = defineKind({
  group: '',
  kind: 'Pod',
  resource: 'pods',
  shortNames: ['po'],
  categories: ['all'],
  namespaced: true,
  versions: ['v1'],
  strategy: specStrategy({ phase: 'Pending' }),
  subresources: [
    connectSubresource('attach', 'PodAttachOptions', ['create', 'get']),
    actionSubresource('binding', '', 'v1', 'Binding'),
    actionSubresource('eviction', 'policy', 'v1beta1', 'Eviction'),
    connectSubresource('exec', 'PodExecOptions', ['create', 'get']),
    { name: 'log', verbs: ['get'] },
    connectSubresource('portforward', 'PodPortForwardOptions', ['create', 'get']),
    connectSubresource('proxy', 'PodProxyOptions', PROXY_VERBS),
    statusSubresource(),
  ],
  selectableFields: {
    'spec.nodeName': nodeName,
    'spec.host': nodeName,
    'spec.restartPolicy': textField('spec', 'restartPolicy'),
    'spec.schedulerName': textField('spec', 'schedulerName'),
    'spec.serviceAccountName': textField('spec', 'serviceAccountName'),
    'status.phase': textField('status', 'phase'),
    'status.podIP': (object) => stringAt(object, 'status', 'podIP'),
    // Accepted, and never matches: a list has no single value to compare.
    'status.podIPs': () => '',
    'status.nominatedNodeName': textField('status', 'nominatedNodeName'),
  },
  deleteReturnsObject: true,
  table: tableOf([nameColumn, ageColumn]),
});
