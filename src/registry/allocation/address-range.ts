import { isIP } from 'node:net';
import { parseCidr, type Cidr } from '../../api/validation/cidr';

/** Of an IPv6 network only so many addresses are given out, so that the list of them stays small. */
const MAX_IPV6_ADDRESSES = 65_535n;

function formatIpv4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.');
}

/** In the canonical form of RFC 5952. */
function formatIpv6(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(16 * (7 - index))) & 0xffffn).toString(16));
  return new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1);
}

/**
 * The addresses of a network that services may have, as numbers from 0: the network's own address and, of IPv4, the
 * last one are left out, as kube-apiserver does.
 */
export class AddressRange {
  readonly size: number;
  readonly family: 'IPv4' | 'IPv6';
  /** The network in its canonical form, by which replicas know that they share a range. */
  readonly text: string;
  readonly #network: bigint;

  /** Throws for what is no network with room for services. */
  constructor(text: string) {
    const cidr: Cidr | undefined = parseCidr(text);
    if (cidr === undefined) throw new Error(`not a network of addresses: ${JSON.stringify(text)}`);
    const hostBits = BigInt(cidr.bits - cidr.prefixLength);
    const addresses = 1n << hostBits;
    this.family = cidr.bits === 32 ? 'IPv4' : 'IPv6';
    this.#network = (cidr.address >> hostBits) << hostBits;
    this.text = `${this.#format(this.#network)}/${cidr.prefixLength}`;
    const usable = cidr.bits === 32 ? addresses - 2n : addresses - 1n;
    if (usable < 1n) throw new Error(`no room for services in ${text}`);
    this.size = Number(cidr.bits === 128 && usable > MAX_IPV6_ADDRESSES ? MAX_IPV6_ADDRESSES : usable);
  }

  address(index: number): string {
    return this.#format(this.#network + 1n + BigInt(index));
  }

  /** -1 for what is not in the range. */
  indexOf(address: string): number {
    const version = isIP(address);
    const cidr = version === 0 ? undefined : parseCidr(`${address}/${version === 4 ? 32 : 128}`);
    if (cidr === undefined || (version === 4) !== (this.family === 'IPv4')) return -1;
    const index = cidr.address - this.#network - 1n;
    return index >= 0n && index < BigInt(this.size) ? Number(index) : -1;
  }

  #format(value: bigint): string {
    return this.family === 'IPv4' ? formatIpv4(value) : formatIpv6(value);
  }
}
