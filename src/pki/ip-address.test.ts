import fc from 'fast-check';
import { isIPv6 } from 'node:net';
import { ipv6Groups, mappedIpv4 } from './ip-address';

describe('the groups of an IPv6 address', () => {
  test.each<[string, readonly number[]]>([
    ['::', [0, 0, 0, 0, 0, 0, 0, 0]],
    ['::1', [0, 0, 0, 0, 0, 0, 0, 1]],
    ['fe80::', [0xfe80, 0, 0, 0, 0, 0, 0, 0]],
    ['1:2:3:4:5:6:7:8', [1, 2, 3, 4, 5, 6, 7, 8]],
    ['1:2::7:8', [1, 2, 0, 0, 0, 0, 7, 8]],
    ['1:2:3:4:5:6:7::', [1, 2, 3, 4, 5, 6, 7, 0]],
    ['::ffff:10.0.1.2', [0, 0, 0, 0, 0, 0xffff, 0x0a00, 0x0102]],
    ['64:ff9b::192.0.2.33', [0x64, 0xff9b, 0, 0, 0, 0, 0xc000, 0x0221]],
  ])('of %s', (text, groups) => expect(ipv6Groups(text)).toEqual(groups));

  test('are what the platform takes the address for', () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        fc.pre(isIPv6(text));
        const canonical = (address: string): string => new URL(`http://[${address}]`).hostname;
        const groups = ipv6Groups(text).map((group) => group.toString(16));
        expect(groups).toHaveLength(8);
        expect(canonical(groups.join(':'))).toBe(canonical(text));
      }),
    );
  });
});

test('an IPv4 address may stand in the form of IPv6', () => {
  expect(mappedIpv4(ipv6Groups('::ffff:127.0.0.1'))).toEqual([127, 0, 0, 1]);
  expect(mappedIpv4(ipv6Groups('::ffff:7f00:1'))).toEqual([127, 0, 0, 1]);
  expect(mappedIpv4(ipv6Groups('::127.0.0.1'))).toBeUndefined();
  expect(mappedIpv4(ipv6Groups('64:ff9b::127.0.0.1'))).toBeUndefined();
});
