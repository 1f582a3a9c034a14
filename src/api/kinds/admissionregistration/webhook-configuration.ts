import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import {
  validateWebhookConfiguration,
  validateWebhookConfigurationUpdate,
} from '../../validation/webhook-configuration';
import type { KubeObject } from '../../object';
import type { VersionInput } from '../define-kind';
import { isPlainMap, listAt } from '../field-values';
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

/** Somebody who registers a webhook relies on it: one with conditions fails for every request that it is about. */
function warningsOf(object: KubeObject): readonly string[] {
  return listAt(object, 'webhooks').flatMap((hook, index) =>
    isPlainMap(hook) && listAt(hook, 'matchConditions').length > 0
      ? [`webhooks[${index}].matchConditions: conditions are not evaluated by this server yet: failurePolicy applies`]
      : [],
  );
}

export const webhookConfigurationStrategy: Strategy = {
  warningsOf,
  validateCreate: validateWebhookConfiguration,
  validateUpdate: validateWebhookConfigurationUpdate,
};

export const webhookConfigurationTable = tableOf([
  nameColumn,
  column('Webhooks', 'How many webhooks there are.', (object) => listAt(object, 'webhooks').length, {
    type: 'integer',
  }),
  ageColumn,
]);
