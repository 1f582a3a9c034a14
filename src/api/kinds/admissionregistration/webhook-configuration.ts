import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import {
  checkConditionExpressions,
  validateWebhookConfiguration,
  validateWebhookConfigurationUpdate,
} from '../../validation/webhook-configuration';
import type { VersionInput } from '../define-kind';
import { listAt } from '../field-values';
import type { Strategy } from '../kind-definition';

/** Both versions have one shape; their defaults and what they require differ. */
export function webhookConfigurationVersions(kind: string): readonly (string | VersionInput)[] {
  return [
    'v1',
    {
      version: 'v1beta1',
      lifecycle: { deprecated: '1.16', removed: '1.22', replacement: `admissionregistration.k8s.io/v1 ${kind}` },
    },
  ];
}

export const webhookConfigurationStrategy: Strategy = {
  validateCreate: validateWebhookConfiguration,
  validateUpdate: validateWebhookConfigurationUpdate,
  checkRules: checkConditionExpressions,
};

export const webhookConfigurationTable = tableOf([
  nameColumn,
  column('Webhooks', 'How many webhooks there are.', (object) => listAt(object, 'webhooks').length, {
    type: 'integer',
  }),
  ageColumn,
]);
