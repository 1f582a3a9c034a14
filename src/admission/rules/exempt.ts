import type { AdmissionAttributes } from '../plugin';

const ADMISSION_GROUP = 'admissionregistration.k8s.io';
const EXEMPT: ReadonlySet<string> = new Set([
  'validatingwebhookconfigurations',
  'mutatingwebhookconfigurations',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
]);

/**
 * What is about admission itself is subject to no webhook and no policy: users who have locked themselves out must be able to
 * change what locks them out.
 */
export function isExempt({ group, resource }: Pick<AdmissionAttributes, 'group' | 'resource'>): boolean {
  return group === ADMISSION_GROUP && EXEMPT.has(resource);
}
