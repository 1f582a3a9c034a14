import { isIP } from 'node:net';
import { invalid, type FieldError } from '../errors/field-error';
import { ipv4Bytes, ipv6Groups, mappedIpv4 } from '../../pki/ip-address';

const NO_ADDRESS_PROBLEM = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

const NO_SCOPE = '';
const SCOPE_PROBLEMS = {
  unspecified: (address: string) => `may not be unspecified (${address})`,
  loopback: () => 'may not be in the loopback range (127.0.0.0/8)',
  linkLocal: () => 'may not be in the link-local range (169.254.0.0/16)',
  linkLocalMulticast: () => 'may not be in the link-local multicast range (224.0.0.0/24)',
};
type Scope = keyof typeof SCOPE_PROBLEMS | typeof NO_SCOPE;

function scopeOfIpv4([a = 0, b = 0, c = 0, d = 0]: readonly number[]): Scope {
  if (a === 127) return 'loopback';
  if (a === 169 && b === 254) return 'linkLocal';
  if (a === 224 && b === 0 && c === 0) return 'linkLocalMulticast';
  return a + b + c + d === 0 ? 'unspecified' : NO_SCOPE;
}

function scopeOfIpv6(groups: readonly number[]): Scope {
  const [first = 0] = groups;
  if ((first & 0xffc0) === 0xfe80) return 'linkLocal';
  if (first === 0xff02) return 'linkLocalMulticast';
  if (first !== 0) return NO_SCOPE;
  const mapped = mappedIpv4(groups);
  if (mapped !== undefined) return scopeOfIpv4(mapped);
  const last = groups.at(-1) ?? 0;
  if (last > 1 || groups.slice(0, -1).some((group) => group !== 0)) return NO_SCOPE;
  return last === 1 ? 'loopback' : 'unspecified';
}

const NO_ERRORS: readonly FieldError[] = [];

export function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%');
}

/** IPv4 or IPv6. */
export function validateAddress(address: string, field: string): readonly FieldError[] {
  return isAddress(address) ? [] : [invalid(field, address, NO_ADDRESS_PROBLEM)];
}

/** Traffic must not be led to where it means something else on each machine: itself, or the nearest link. */
export function validateRoutableAddress(address: string, field: string): readonly FieldError[] {
  if (!isAddress(address)) return [invalid(field, address, 'must be a valid IP address')];
  const scope = isIP(address) === 4 ? scopeOfIpv4(ipv4Bytes(address)) : scopeOfIpv6(ipv6Groups(address));
  return scope === NO_SCOPE ? NO_ERRORS : [invalid(field, address, SCOPE_PROBLEMS[scope](address))];
}
