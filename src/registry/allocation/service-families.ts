import type { ServiceSpec } from '../../api/schema/generated/core-v1';
import { isHeadless } from '../../api/validation/service-addresses';
import type { AddressRange } from './address-range';

/**
 * The families of a service in a cluster whose services have addresses of one family. They are shown to those who name
 * them; who does not has never seen them (`--feature-gates=IPv6DualStack=false`).
 */
export function familiesOf(
  { type, ipFamilies, ipFamilyPolicy }: ServiceSpec,
  { family }: AddressRange,
): Pick<ServiceSpec, 'ipFamilies' | 'ipFamilyPolicy'> {
  if (type === 'ExternalName' || (ipFamilies === undefined && ipFamilyPolicy === undefined)) return {};
  return {
    ipFamilies: ipFamilies === undefined || ipFamilies.length === 0 ? [family] : ipFamilies,
    ipFamilyPolicy: ipFamilyPolicy ?? 'SingleStack',
  };
}

/** Why the families cannot be had; undefined when they can. Of headless services, anyone may say what the pods have. */
export function familyProblem(
  spec: ServiceSpec,
  { family }: AddressRange,
): { readonly field: string; readonly value: string; readonly detail: string } | undefined {
  const { ipFamilies = [], ipFamilyPolicy, type, selector } = spec;
  if (type === 'ExternalName' || (isHeadless(spec) && Object.keys(selector ?? {}).length === 0)) return undefined;
  if (ipFamilyPolicy === 'RequireDualStack') {
    const detail = 'this cluster is not configured for dual-stack services';
    return { field: 'spec.ipFamilyPolicy', value: ipFamilyPolicy, detail };
  }
  const index = ipFamilies.findIndex((one) => one !== family);
  const value = ipFamilies[index];
  return value === undefined
    ? undefined
    : { field: `spec.ipFamilies[${index}]`, value, detail: 'not configured on this cluster' };
}
