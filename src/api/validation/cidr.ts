import { isIPv4, isIPv6 } from 'node:net';

/** A block of addresses; `address` is the number of the address as written, host bits included. */
export interface Cidr {
  /** 32 for IPv4, 128 for IPv6. */
  readonly bits: 32 | 128;
  readonly prefixLength: number;
  readonly address: bigint;
}

function ipv4Number(text: string): bigint {
  return text.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);
}

function ipv6Number(text: string): bigint {
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  if (dotted?.[1] !== undefined && dotted[2] !== undefined) {
    const tail = ipv4Number(dotted[2]);
    return ipv6Number(`${dotted[1]}${(tail >> 16n).toString(16)}:${(tail & 0xffffn).toString(16)}`);
  }
  const [head = '', tail] = text.split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':'));
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after].reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
}

/** `10.0.0.0/8` or `2001:db8::/32`; undefined for anything else, addresses with leading zeros or zones among it. */
export function parseCidr(text: string): Cidr | undefined {
  const [, ip = '', length = ''] = /^([^/]*)\/(\d{1,3})$/.exec(text) ?? [];
  const prefixLength = Number(length);
  if (length === '' || String(prefixLength) !== length) return undefined;
  if (isIPv4(ip)) return prefixLength <= 32 ? { bits: 32, prefixLength, address: ipv4Number(ip) } : undefined;
  if (!isIPv6(ip) || ip.includes('%')) return undefined;
  return prefixLength <= 128 ? { bits: 128, prefixLength, address: ipv6Number(ip) } : undefined;
}

/** True when `inner` lies within `outer` and is smaller. */
export function isStrictSubset(inner: Cidr, outer: Cidr): boolean {
  if (inner.bits !== outer.bits || inner.prefixLength <= outer.prefixLength) return false;
  const shift = BigInt(outer.bits - outer.prefixLength);
  return inner.address >> shift === outer.address >> shift;
}
