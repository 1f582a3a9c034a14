import { BlockList, isIP } from 'node:net';
import fc from 'fast-check';
import { validateRoutableAddress } from './addresses';

function problem(address: string): string | undefined {
  return validateRoutableAddress(address, 'ip').map(({ message }) =>
    message.replace(/^Invalid value: "[^"]*": /, ''),
  )[0];
}

describe('an address that traffic is led to', () => {
  test.each([
    ['0.0.0.0', 'may not be unspecified (0.0.0.0)'],
    ['::', 'may not be unspecified (::)'],
    ['0:0::0', 'may not be unspecified (0:0::0)'],
    ['127.9.8.7', 'may not be in the loopback range (127.0.0.0/8)'],
    ['::1', 'may not be in the loopback range (127.0.0.0/8)'],
    ['::ffff:127.0.0.1', 'may not be in the loopback range (127.0.0.0/8)'],
    ['169.254.1.1', 'may not be in the link-local range (169.254.0.0/16)'],
    ['febf::1', 'may not be in the link-local range (169.254.0.0/16)'],
    ['224.0.0.1', 'may not be in the link-local multicast range (224.0.0.0/24)'],
    ['ff02::1', 'may not be in the link-local multicast range (224.0.0.0/24)'],
    ['10.0.0.1', undefined],
    ['224.0.1.1', undefined],
    ['fec0::1', undefined],
    ['ff05::1', undefined],
    ['::2', undefined],
    ['1.2.3', 'must be a valid IP address'],
    ['fe80::1%eth0', 'must be a valid IP address'],
  ])('%s: %s', (address, expected) => expect(problem(address)).toBe(expected));

  test('is refused where it is in one of the blocks', () => {
    const list = new BlockList();
    list.addSubnet('0.0.0.0', 32, 'ipv4');
    list.addSubnet('127.0.0.0', 8, 'ipv4');
    list.addSubnet('169.254.0.0', 16, 'ipv4');
    list.addSubnet('224.0.0.0', 24, 'ipv4');
    list.addSubnet('::', 127, 'ipv6');
    list.addSubnet('fe80::', 10, 'ipv6');
    list.addSubnet('ff02::', 16, 'ipv6');
    const few = fc.constantFrom(0, 1, 127, 169, 224, 254, 255);
    const four = fc.tuple(few, few, few, few).map((bytes) => bytes.join('.'));
    const six = fc.tuple(fc.constantFrom('0', 'fe80', 'ff02', '1'), four).map(([first, last]) => `${first}::${last}`);
    const mapped = four.map((last) => `::ffff:${last}`);
    fc.assert(
      fc.property(fc.oneof(four, six, mapped, fc.ipV6()), (address) => {
        const isInside = list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
        expect(problem(address) !== undefined).toBe(isInside);
      }),
      { numRuns: 500 },
    );
  });
});
