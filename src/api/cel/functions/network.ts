import { BlockList, isIP } from 'node:net';
import { quoteGo } from '../../errors/go-quote';
import { quoteShown } from '../../errors/shown-value';
import { ipv4Bytes, ipv6Groups, mappedIpv4 } from '../../../pki/ip-address';
import { declare, OF_TEXT, type Overload } from '../declarations';
import { EvalError, Opaque, type Value } from '../values';

/** Kubernetes' libraries of addresses and blocks of them. */

class Ip extends Opaque {
  readonly typeName = 'net.IP';

  constructor(
    readonly family: 4 | 6,
    readonly value: bigint,
  ) {
    super();
  }

  equals(other: Opaque): boolean {
    return other instanceof Ip && this.family === other.family && this.value === other.value;
  }
}

class Cidr extends Opaque {
  readonly typeName = 'net.CIDR';

  constructor(
    readonly address: Ip,
    readonly prefix: number,
  ) {
    super();
  }

  equals(other: Opaque): boolean {
    return other instanceof Cidr && this.prefix === other.prefix && this.address.equals(other.address);
  }
}

/** Undefined: it is no address, or one that maps IPv4 into IPv6, or one with a zone. */
function addressOf(text: string): Ip | undefined {
  const family = text.includes('%') ? 0 : isIP(text);
  if (family === 4) return new Ip(4, joined(ipv4Bytes(text), 8n));
  if (family !== 6) return undefined;
  const groups = ipv6Groups(text);
  return mappedIpv4(groups) === undefined ? new Ip(6, joined(groups, 16n)) : undefined;
}

function joined(parts: readonly number[], bits: bigint): bigint {
  return parts.reduce((value, part) => (value << bits) | BigInt(part), 0n);
}

/** The canonical text (RFC 5952). */
function textOf({ family, value }: Ip): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 0xffn)).join('.');
  const groups = Array.from({ length: 8 }, (_, index) => Number((value >> BigInt(112 - 16 * index)) & 0xffffn));
  let [best, length] = [-1, 1];
  for (let start = 0; start < 8; start += 1) {
    let end = start;
    while (end < 8 && groups[end] === 0) end += 1;
    if (end - start > length) [best, length] = [start, end - start];
  }
  const hex = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(':');
  return best < 0 ? hex(groups) : `${hex(groups.slice(0, best))}::${hex(groups.slice(best + length))}`;
}

function ip(value: Value | undefined): Ip {
  const text = value as string;
  const found = addressOf(text);
  if (found !== undefined) return found;
  const shown = quoteGo(text);
  const zone = text.indexOf('%');
  if (zone > 0 && isIP(text.slice(0, zone)) === 6 && zone < text.length - 1) {
    throw new EvalError(`IP address ${shown} with zone value is not allowed`);
  }
  if (isIP(text) === 6) throw new EvalError(`IPv4-mapped IPv6 address ${shown} is not allowed`);
  throw new EvalError(
    `IP Address ${shown} parse error during conversion from string: ParseAddr(${shown}): unable to parse IP`,
  );
}

function cidrOf(text: string): Cidr | undefined {
  const [address = '', prefix = '', more] = text.split('/', 3);
  const found = addressOf(address);
  if (found === undefined || more !== undefined || !/^(0|[1-9]\d{0,2})$/.test(prefix)) return undefined;
  return Number(prefix) > bitsOf(found) ? undefined : new Cidr(found, Number(prefix));
}

function cidr(text: Value | undefined): Cidr {
  const found = cidrOf(text as string);
  if (found === undefined) {
    throw new EvalError(
      `network address parse error during conversion from string: invalid CIDR address ${quoteShown(text as string)}`,
    );
  }
  return found;
}

function bitsOf({ family }: Ip): number {
  return family === 4 ? 32 : 128;
}

function masked({ address, prefix }: Cidr): Ip {
  const rest = BigInt(bitsOf(address) - prefix);
  return new Ip(address.family, (address.value >> rest) << rest);
}

function contains(block: Cidr, address: Ip): boolean {
  if (block.address.family !== address.family) return false;
  const rest = BigInt(bitsOf(address) - block.prefix);
  return address.value >> rest === block.address.value >> rest;
}

function blocks(ipv4: readonly (readonly [string, number])[], ipv6Blocks: readonly (readonly [string, number])[]) {
  const list = new BlockList();
  for (const [network, prefix] of ipv4) list.addSubnet(network, prefix, 'ipv4');
  for (const [network, prefix] of ipv6Blocks) list.addSubnet(network, prefix, 'ipv6');
  return (value: Value | undefined): boolean => {
    const address = value as Ip;
    return list.check(textOf(address), address.family === 4 ? 'ipv4' : 'ipv6');
  };
}

const PARSING = OF_TEXT;

export function networkFunctions(): readonly Overload[] {
  const unspecified = blocks([['0.0.0.0', 32]], [['::', 128]]);
  const loopback = blocks([['127.0.0.0', 8]], [['::1', 128]]);
  const linkLocal = blocks([['169.254.0.0', 16]], [['fe80::', 10]]);
  /** Of IPv6: whatever the flags are in the second byte's upper half. */
  const linkLocalMulticast = (value: Value | undefined): boolean => {
    const { family, value: address } = value as Ip;
    return family === 4 ? address >> 8n === 0xe00000n : ((address >> 112n) & 0xff0fn) === 0xff02n;
  };
  const notGlobal = blocks(
    [
      ['0.0.0.0', 32],
      ['127.0.0.0', 8],
      ['169.254.0.0', 16],
      ['224.0.0.0', 4],
      ['255.255.255.255', 32],
    ],
    [
      ['::', 128],
      ['::1', 128],
      ['fe80::', 10],
      ['ff00::', 8],
    ],
  );
  return [
    declare('isIP(string): bool', (text) => addressOf(text as string) !== undefined, PARSING),
    declare('ip(string): net.IP', ip, PARSING),
    declare('ip.isCanonical(string): bool', (text) => textOf(ip(text)) === text, PARSING),
    declare('string(net.IP): string', (value) => textOf(value as Ip)),
    declare('net.IP.family(): int', (value) => BigInt((value as Ip).family)),
    declare('net.IP.isUnspecified(): bool', unspecified),
    declare('net.IP.isLoopback(): bool', loopback),
    declare('net.IP.isLinkLocalMulticast(): bool', linkLocalMulticast),
    declare('net.IP.isLinkLocalUnicast(): bool', linkLocal),
    declare('net.IP.isGlobalUnicast(): bool', (value) => !notGlobal(value)),
    declare('isCIDR(string): bool', (text) => cidrOf(text as string) !== undefined, PARSING),
    declare('cidr(string): net.CIDR', cidr, PARSING),
    declare('string(net.CIDR): string', (value) => `${textOf((value as Cidr).address)}/${(value as Cidr).prefix}`),
    declare('net.CIDR.ip(): net.IP', (value) => (value as Cidr).address),
    declare('net.CIDR.masked(): net.CIDR', (value) => new Cidr(masked(value as Cidr), (value as Cidr).prefix)),
    declare('net.CIDR.prefixLength(): int', (value) => BigInt((value as Cidr).prefix)),
    declare('net.CIDR.containsIP(net.IP): bool', (block, address) => contains(block as Cidr, address as Ip)),
    declare('net.CIDR.containsIP(string): bool', (block, text) => contains(block as Cidr, ip(text)), PARSING),
    declare('net.CIDR.containsCIDR(net.CIDR): bool', (block, other) => containsBlock(block as Cidr, other as Cidr)),
    declare('net.CIDR.containsCIDR(string): bool', (block, text) => containsBlock(block as Cidr, cidr(text)), PARSING),
  ];
}

function containsBlock(block: Cidr, other: Cidr): boolean {
  return other.prefix >= block.prefix && contains(block, other.address);
}
