import type { FieldError } from '../../api/errors/field-error';
import { internalError, invalidObject } from '../../api/errors/status-error';
import type { ServiceSpec } from '../../api/schema/generated/core-v1';
import { invalidLiteral, stringListLiteral } from '../../api/validation/go-literal';
import { isHeadless } from '../../api/validation/service-addresses';
import type { AddressRange } from './address-range';
import type { NumberPool } from './number-pool';

/** The addresses inside the cluster that a service has been given; headless ones and mere names have none. */
export function addressesOf(spec: ServiceSpec): readonly string[] {
  const { type, clusterIP = '', clusterIPs = [] } = spec;
  if (type === 'ExternalName' || isHeadless(spec)) return [];
  return clusterIPs.length > 0 ? clusterIPs : clusterIP === '' || clusterIP === 'None' ? [] : [clusterIP];
}

/** True for a service that has to be given an address: a new one, or one that has been a mere name. */
export function wantsAddress(spec: ServiceSpec, oldSpec: ServiceSpec | undefined): boolean {
  const had = oldSpec !== undefined && oldSpec.type !== 'ExternalName';
  return spec.type !== 'ExternalName' && !had && !isHeadless(spec);
}

/** Takes the address that the service names, or any. Throws 422 when it cannot be had, 500 when none is left. */
export function takeAddress(
  spec: ServiceSpec,
  {
    range,
    pool,
    serviceName,
  }: { readonly range: AddressRange; readonly pool: NumberPool; readonly serviceName: string },
): string {
  const [wanted] = addressesOf(spec);
  if (wanted === undefined) {
    const index = pool.takeAny();
    if (index === undefined) throw internalError('failed to allocate a serviceIP: range is full');
    return range.address(index);
  }
  const outcome = pool.take(range.indexOf(wanted));
  if (outcome === 'taken') return wanted;
  const problem =
    outcome === 'occupied'
      ? 'provided IP is already allocated'
      : `provided IP is not in the valid range. The range of valid IPs is ${range.text}`;
  throw invalidObject({ group: '', kind: 'Service' }, serviceName, [refusal(spec, wanted, problem)]);
}

function refusal({ clusterIPs }: ServiceSpec, address: string, problem: string): FieldError {
  const literal = stringListLiteral('[]string', clusterIPs);
  return invalidLiteral('spec.clusterIPs', literal, `failed to allocated ip:${address} with error:${problem}`);
}
