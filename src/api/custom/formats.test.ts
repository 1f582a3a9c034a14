import { FORMATS } from './formats';

describe('formats of texts', () => {
  it.each([...FORMATS.keys()].filter((format) => !['byte', 'password', 'uri'].includes(format)))(
    'have no megabytes of a %s, whatever they say',
    (format) => {
      for (const part of ['1', '1 ', '1s', '-', 'a', 'a.'])
        expect(FORMATS.get(format)?.(part.repeat(1_000_000))).toBe(false);
    },
  );

  it.each([
    ['byte', 'aGk=', '!!'],
    ['cidr', '10.0.0.0/8', '10.0.0.0'],
    ['cidr', 'fd00::/64', '10.0.0.0/33'],
    ['creditcard', '4111 1111 1111 1111', '4111 1111 1111 1112'],
    ['date', '2020-02-29', '2020-13-01'],
    ['date', '2021-02-28', '2021-02-29'],
    ['date-time', '2020-01-02T03:04:05.6Z', '2020'],
    ['date-time', '2020-01-02T03:04:05+01:00', '2020-01-02T25:00:00Z'],
    ['duration', '1h30m', '5 x'],
    ['duration', '3 days', 'days'],
    ['duration', 'about 5 Minutes', '99999999999999999999 days'],
    ['duration', '2wk', '2 mon'],
    ['email', 'a.b@example.com', 'nope'],
    ['email', 'A. Name <a@b>', 'A. Name <a@b'],
    ['email', '"a b"@c (why)', 'a b@c'],
    ['hexcolor', '#a0b1c2', '#a0b1'],
    ['hostname', 'a-b.example', '-bad'],
    ['hostname', 'a', 'a.b'],
    ['ipv4', '1.2.3.4', '1.2.3'],
    ['ipv6', '::1', '1.2.3.4'],
    ['isbn10', '0-306-40615-2', '0-306-40615-3'],
    ['isbn13', '978-0-306-40615-7', '978-0-306-40615-8'],
    ['mac', '01:23:45:67:89:ab', '01:23:45'],
    ['rgbcolor', 'rgb(1, 2, 255)', 'rgb(1,2,256)'],
    ['uri', 'https://example.com/a?b=c', 'no uri'],
    ['uuid', 'a2dfe6a0-d5be-4cf4-b577-928f13336046', 'x'],
    ['uuid4', 'a2dfe6a0-d5be-4cf4-b577-928f13336046', 'a2dfe6a0-d5be-3cf4-b577-928f13336046'],
  ])('%s is %s and not %s', (format, good, bad) => {
    expect(FORMATS.get(format)?.(good)).toBe(true);
    expect(FORMATS.get(format)?.(bad)).toBe(false);
  });
});
