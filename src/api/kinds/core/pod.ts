import { defineKind, textField } from '../define-kind';
import { stringAt } from '../field-values';
import {
  actionSubresource,
  connectSubresource,
  PROXY_VERBS,
  statusSubresource,
  wholeObjectSubresource,
} from '../subresources';
import { defaultPod } from './pod-defaults';
import { ephemeralContainersStrategy, podGracePeriodSeconds, podStatusStrategy, podStrategy } from './pod-strategy';
import { podTable } from './pod-table';

const nodeName = textField('spec', 'nodeName');

export const pod = defineKind({
  group: '',
  kind: 'Pod',
  resource: 'pods',
  shortNames: ['po'],
  categories: ['all'],
  namespaced: true,
  versions: ['v1'],
  applyDefaults: defaultPod,
  strategy: podStrategy,
  subresources: [
    connectSubresource('attach', 'PodAttachOptions', ['create', 'get']),
    actionSubresource('binding', '', 'v1', 'Binding'),
    wholeObjectSubresource('ephemeralcontainers', ephemeralContainersStrategy),
    actionSubresource('eviction', 'policy', 'v1beta1', 'Eviction'),
    connectSubresource('exec', 'PodExecOptions', ['create', 'get']),
    { name: 'log', verbs: ['get'] },
    connectSubresource('portforward', 'PodPortForwardOptions', ['create', 'get']),
    connectSubresource('proxy', 'PodProxyOptions', PROXY_VERBS),
    statusSubresource(podStatusStrategy),
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
  indexedField: 'spec.nodeName',
  deleteReturnsObject: true,
  gracePeriodSeconds: podGracePeriodSeconds,
  table: podTable,
});
