import { defineKind } from '../define-kind';
import {
  webhookConfigurationStrategy,
  webhookConfigurationTable,
  webhookConfigurationVersions,
} from './webhook-configuration';

export const mutatingWebhookConfiguration = defineKind({
  group: 'admissionregistration.k8s.io',
  kind: 'MutatingWebhookConfiguration',
  resource: 'mutatingwebhookconfigurations',
  categories: ['api-extensions'],
  namespaced: false,
  metadataOnUpdate: ['own'],
  unqualifiedFinalizers: true,
  versions: webhookConfigurationVersions('MutatingWebhookConfiguration'),
  storageVersion: 'v1beta1',
  strategy: webhookConfigurationStrategy,
  tracksGeneration: true,
  allowUnconditionalUpdate: false,
  table: webhookConfigurationTable,
});
