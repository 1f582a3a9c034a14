import { defineKind } from '../define-kind';
import {
  webhookConfigurationStrategy,
  webhookConfigurationTable,
  webhookConfigurationVersions,
} from './webhook-configuration';

export const validatingWebhookConfiguration = defineKind({
  group: 'admissionregistration.k8s.io',
  kind: 'ValidatingWebhookConfiguration',
  resource: 'validatingwebhookconfigurations',
  categories: ['api-extensions'],
  namespaced: false,
  metadataOnUpdate: ['own'],
  unqualifiedFinalizers: true,
  versions: webhookConfigurationVersions('ValidatingWebhookConfiguration'),
  storageVersion: 'v1beta1',
  strategy: webhookConfigurationStrategy,
  tracksGeneration: true,
  allowUnconditionalUpdate: false,
  table: webhookConfigurationTable,
});
