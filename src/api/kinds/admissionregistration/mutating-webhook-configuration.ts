import { defineKind } from '../define-kind';
import { webhookConfigurationTable, webhookConfigurationVersions } from './webhook-configuration';

export const mutatingWebhookConfiguration = defineKind({
  group: 'admissionregistration.k8s.io',
  kind: 'MutatingWebhookConfiguration',
  resource: 'mutatingwebhookconfigurations',
  categories: ['api-extensions'],
  namespaced: false,
  versions: webhookConfigurationVersions('MutatingWebhookConfiguration'),
  tracksGeneration: true,
  allowUnconditionalUpdate: false,
  table: webhookConfigurationTable,
});
