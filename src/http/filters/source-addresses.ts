import { isIP } from 'node:net';
import type { IncomingHttpHeaders } from 'node:http';

const MAPPED_IPV4 = '::ffff:';
/** Addresses of proxies that are read from one request. */
const MAX_FORWARDED = 32;

/** Where a request has come from: what the proxies on its way say, then the peer of the connection, which cannot be made up. */
export function sourceAddresses(headers: IncomingHttpHeaders, remoteAddress: string | undefined): readonly string[] {
  const peer = plainAddress(remoteAddress ?? '');
  const forwarded = headers['x-forwarded-for'];
  const real = headers['x-real-ip'];
  if (forwarded === undefined && real === undefined) return peer === '' ? [] : [peer];
  const addresses = (typeof forwarded === 'string' ? forwarded : (forwarded?.join(',') ?? ''))
    .split(',', MAX_FORWARDED)
    .map((text) => text.trim())
    .filter((text) => isIP(text) !== 0)
    .map(plainAddress);
  const realAddress = typeof real === 'string' && isIP(real) !== 0 ? plainAddress(real) : '';
  if (realAddress !== '' && !addresses.includes(realAddress)) addresses.push(realAddress);
  if (peer !== '' && addresses.at(-1) !== peer) addresses.push(peer);
  return addresses;
}

/** Sockets for both families show IPv4 addresses inside IPv6 ones. */
function plainAddress(address: string): string {
  return address.startsWith(MAPPED_IPV4) ? address.slice(MAPPED_IPV4.length) : address;
}
