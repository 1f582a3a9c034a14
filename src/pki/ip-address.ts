/** The parts of addresses that `node:net` takes for right, without a zone. Its `BlockList` makes objects of the platform for each look. */

/** The four bytes of an IPv4 address. */
export function ipv4Bytes(text: string): readonly number[] {
  return text.split('.').map(Number);
}

/** The eight groups of 16 bits of an IPv6 address. */
export function ipv6Groups(text: string): readonly number[] {
  const [head = '', tail] = text.split('::');
  const first = groupsOf(head);
  if (tail === undefined) return first;
  const last = groupsOf(tail);
  return [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
}

/** Groups in a row, the last two of which may be an IPv4 address. */
function groupsOf(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((part) => {
    if (!part.includes('.')) return parseInt(part, 16);
    const [a = 0, b = 0, c = 0, d = 0] = ipv4Bytes(part);
    return [(a << 8) | b, (c << 8) | d];
  });
}

const MAPPED = '0,0,0,0,0,65535';

/** The four bytes of an IPv4 address that stands in IPv6's form (`::ffff:10.0.0.1`). */
export function mappedIpv4(groups: readonly number[]): readonly number[] | undefined {
  if (groups.slice(0, 6).join() !== MAPPED) return undefined;
  const [high = 0, low = 0] = groups.slice(6);
  return [high >> 8, high & 0xff, low >> 8, low & 0xff];
}
