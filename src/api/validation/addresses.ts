import { BlockList, isIP } from 'node:net';
import { invalid, type FieldError } from '../errors/field-error';

const NO_ADDRESS_PROBLEM = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

function blocks(ipv4: readonly (readonly [string, number])[], ipv6: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of ipv4) list.addSubnet(network, prefix, 'ipv4');
  for (const [network, prefix] of ipv6) list.addSubnet(network, prefix, 'ipv6');
  return list;
}

function isWithin(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

const UNSPECIFIED = blocks([['0.0.0.0', 32]], [['::', 128]]);
const LOOPBACK = blocks([['127.0.0.0', 8]], [['::1', 128]]);
const LINK_LOCAL = blocks([['169.254.0.0', 16]], [['fe80::', 10]]);
const LINK_LOCAL_MULTICAST = blocks([['224.0.0.0', 24]], [['ff02::', 16]]);
/** All of them: a look into a list takes some microseconds. */
const NOT_ROUTABLE = blocks(
  [
    ['0.0.0.0', 32],
    ['127.0.0.0', 8],
    ['169.254.0.0', 16],
    ['224.0.0.0', 24],
  ],
  [
    ['::', 128],
    ['::1', 128],
    ['fe80::', 10],
    ['ff02::', 16],
  ],
);
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
  if (!isWithin(NOT_ROUTABLE, address)) return NO_ERRORS;
  return [
    ...(isWithin(UNSPECIFIED, address) ? [invalid(field, address, `may not be unspecified (${address})`)] : []),
    ...(isWithin(LOOPBACK, address) ? [invalid(field, address, 'may not be in the loopback range (127.0.0.0/8)')] : []),
    ...(isWithin(LINK_LOCAL, address)
      ? [invalid(field, address, 'may not be in the link-local range (169.254.0.0/16)')]
      : []),
    ...(isWithin(LINK_LOCAL_MULTICAST, address)
      ? [invalid(field, address, 'may not be in the link-local multicast range (224.0.0.0/24)')]
      : []),
  ];
}
