import { lookup as dnsLookup } from 'node:dns';
import { BlockList, isIPv4, isIPv6, type LookupFunction } from 'node:net';

/** Addresses of the server itself, of its link and of groups: a proxy request must not lead there. */
const NOT_PROXYABLE = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 32],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 4],
  ['255.255.255.255', 32],
] as const) {
  NOT_PROXYABLE.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['::', 128],
  ['::1', 128],
  ['fe80::', 10],
  ['ff00::', 8],
] as const) {
  NOT_PROXYABLE.addSubnet(network, prefix, 'ipv6');
}

/** False for what is no address, too. */
export function isProxyableAddress(address: string): boolean {
  if (isIPv4(address)) return !NOT_PROXYABLE.check(address, 'ipv4');
  return isIPv6(address) && !NOT_PROXYABLE.check(address, 'ipv6');
}

export const ADDRESS_NOT_ALLOWED = 'address not allowed';

/**
 * Resolves a name and refuses addresses that a proxy request must not lead to: looked at when the connection is made, so that
 * the name's address cannot change in between.
 */
export const lookupProxyable: LookupFunction = (hostname, options, callback) => {
  dnsLookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, []);
    const isAllowed = addresses.length > 0 && addresses.every(({ address }) => isProxyableAddress(address));
    if (!isAllowed) return callback(new Error(ADDRESS_NOT_ALLOWED), []);
    const [first] = addresses;
    if (options.all === true) callback(null, addresses);
    else callback(null, first!.address, first!.family);
  });
};
