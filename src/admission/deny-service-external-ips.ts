import type { KubeObject } from '../api/object';
import { refuse, type AdmissionPlugin } from './plugin';

function externalIPs(service: KubeObject | undefined): readonly string[] {
  return (service?.spec as { readonly externalIPs?: readonly string[] } | undefined)?.externalIPs ?? [];
}

/** DenyServiceExternalIPs: no new external IPs; what is there may stay or go (CVE-2020-8554). */
export const denyServiceExternalIPs: AdmissionPlugin = {
  name: 'DenyServiceExternalIPs',
  operations: ['CREATE', 'UPDATE'],
  resources: ['services'],
  validate: async (attributes) => {
    const old = new Set(externalIPs(attributes.oldObject));
    if (externalIPs(attributes.object).every((address) => old.has(address))) return;
    throw refuse(attributes, 'Use of external IPs is denied by admission control.');
  },
};
