import { isStrictSubset, parseCidr, type Cidr } from './cidr';

describe('address blocks', () => {
  test.each(['10.0.0.0/8', '0.0.0.0/0', '1.2.3.4/32', '2001:db8::/32', '::/0', '::ffff:1.2.3.4/128', 'a:b::c:d/64'])(
    '%s is a block',
    (text) => {
      expect(parseCidr(text)).toBeDefined();
    },
  );

  test.each([
    '10.0.0.1',
    '300.1.1.1/8',
    '2001:db8::1',
    ' 10.0.0.0/8',
    '010.0.0.0/8',
    '10.0.0.0/33',
    '::/129',
    'q',
    '',
    '10.0.0.0/08',
    'fe80::1%eth0/64',
  ])('%j is no block', (text) => {
    expect(parseCidr(text)).toBeUndefined();
  });

  test.each([
    ['10.1.0.0/16', '10.0.0.0/8', true],
    ['10.0.0.0/8', '10.0.0.0/8', false],
    ['11.0.0.0/16', '10.0.0.0/8', false],
    ['10.0.0.0/7', '10.0.0.0/8', false],
    ['2001:db8:1::/48', '2001:db8::/32', true],
    ['2001:db9::/48', '2001:db8::/32', false],
    ['2001:db8::/32', '10.0.0.0/8', false],
    ['1.2.3.4/32', '0.0.0.0/0', true],
  ])('%s within %s: %s', (inner, outer, expected) => {
    expect(isStrictSubset(parseCidr(inner) as Cidr, parseCidr(outer) as Cidr)).toBe(expected);
  });
});
