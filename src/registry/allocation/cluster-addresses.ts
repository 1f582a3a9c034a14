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

/** One address that a service has to be given. */
export interface WantedAddress {
  readonly family: string;
  /** Absent: any. */
  readonly address?: string;
}

/**
 * What a service keeps of its addresses, and what it has to be given besides: all of a new one's and of one that has been
 * a mere name, the second one's of a service that has got a second family.
 */
export function wantedAddresses(
  spec: ServiceSpec,
  oldSpec: ServiceSpec | undefined,
  primary: string,
): { readonly kept: readonly string[]; readonly wanted: readonly WantedAddress[] } {
  const addresses = addressesOf(spec);
  const stays = oldSpec !== undefined && oldSpec.type !== 'ExternalName';
  if (spec.type === 'ExternalName' || isHeadless(spec) || (stays && isHeadless(oldSpec))) {
    return { kept: addresses, wanted: [] };
  }
  const { ipFamilies = [] } = spec;
  const had = stays ? addressesOf(oldSpec).length : 0;
  const wanted = (ipFamilies.length === 0 ? [primary] : ipFamilies).slice(had).map((family, index) => {
    const address = addresses[had + index];
    return address === undefined ? { family } : { family, address };
  });
  return { kept: addresses.slice(0, had), wanted };
}

/** Takes the address that is wanted, or any. Throws 422 when it cannot be had, 500 when none is left. */
export function takeAddress(
  wanted: string | undefined,
  pool: NumberPool,
  {
    range,
    spec,
    serviceName,
  }: { readonly range: AddressRange; readonly spec: ServiceSpec; readonly serviceName: string },
): string {
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
