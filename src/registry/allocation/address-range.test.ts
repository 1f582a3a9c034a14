import fc from 'fast-check';
import { AddressRange } from './address-range';

describe('an address range', () => {
  it.each<[string, number, string, string]>([
    ['10.0.0.0/24', 254, '10.0.0.1', '10.0.0.254'],
    ['10.0.0.77/24', 254, '10.0.0.1', '10.0.0.254'],
    ['192.168.0.0/30', 2, '192.168.0.1', '192.168.0.2'],
    ['fd00:1::/112', 65_535, 'fd00:1::1', 'fd00:1::ffff'],
    ['2001:db8::/64', 65_535, '2001:db8::1', '2001:db8::ffff'],
  ])('%s has %i addresses, %s to %s', (text, size, first, last) => {
    const range = new AddressRange(text);
    expect([range.size, range.address(0), range.address(range.size - 1)]).toEqual([size, first, last]);
  });

  it.each([
    ['10.0.0.77/24', '10.0.0.0/24'],
    ['fd00:0::1/112', 'fd00::/112'],
  ])('%s is known as %s', (text, canonical) => {
    expect(new AddressRange(text).text).toBe(canonical);
  });

  it('finds the number of each of its addresses', () => {
    fc.assert(
      fc.property(fc.constantFrom('10.96.0.0/12', 'fd00::/108'), fc.nat({ max: 65_000 }), (text, index) => {
        const range = new AddressRange(text);
        expect(range.indexOf(range.address(index))).toBe(index);
      }),
    );
  });

  it.each(['10.0.0.0', '10.0.0.255', '10.0.1.1', '9.255.255.255', 'fd00::1', 'None', 'x', ''])(
    '%j is not in 10.0.0.0/24',
    (address) => {
      expect(new AddressRange('10.0.0.0/24').indexOf(address)).toBe(-1);
    },
  );

  it.each(['10.0.0.0', '10.0.0.0/32', '10.0.0.0/31', 'x/8'])('%j leaves no room for services', (text) => {
    expect(() => new AddressRange(text)).toThrow();
  });
});
