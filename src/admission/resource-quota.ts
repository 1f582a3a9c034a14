import { whenKnown } from '../api/maybe-promise';
import { quotaEvaluator } from '../api/quota/evaluator';
import type { AdmissionAttributes, AdmissionPlugin } from './plugin';
import type { LimitedResource } from './quota-check';
import type { QuotaStore } from '../resources/quota-store';
import { QuotaLedger } from './quota-ledger';

function isCounted({ subresource, namespace, resource, group }: AdmissionAttributes): boolean {
  return subresource === '' && namespace !== '' && !(group === '' && resource === 'namespaces');
}

/**
 * ResourceQuota: what a namespace may use in total. A request is charged before it is stored; when it is refused after
 * all, the charge goes back. After a crash in between, the quota controller mends the figure.
 */
export function resourceQuotaAdmission(store: QuotaStore, limited: readonly LimitedResource[]): AdmissionPlugin {
  const ledger = new QuotaLedger(store, limited);
  return {
    name: 'ResourceQuota',
    operations: ['CREATE', 'UPDATE'],
    validate: (attributes) => {
      if (!isCounted(attributes)) return;
      const evaluator = quotaEvaluator(attributes, Date.now);
      if (evaluator === undefined || (attributes.operation === 'UPDATE' && !evaluator.countsUpdates)) return;
      return whenKnown(ledger.charge(attributes, evaluator), (charges) => {
        if (charges.length > 0) attributes.onRefused(() => ledger.refund(attributes.namespace, charges));
      });
    },
  };
}
