import { compileExpression } from '../compile-expression';

/** Every function of the libraries that Kubernetes adds to the language, with what its documentation and Go's libraries say of it. */

function resultOf(source: string): unknown {
  const outcome = compileExpression(source, new Map()).start({}, 1_000_000).proceed();
  if (outcome === undefined) throw new Error('it has not come to its end');
  return 'error' in outcome ? `error: ${outcome.error}` : outcome.value;
}

/** Of one library: expressions that are true, and what others fail with. */
interface Library {
  readonly true: readonly string[];
  readonly fails?: readonly (readonly [expression: string, error: string])[];
}

const LIBRARIES: Readonly<Record<string, Library>> = {
  lists: {
    true: [
      '[1, 2, 2].isSorted() && ![2, 1].isSorted() && [].isSorted() && [false, true].isSorted()',
      '[1, 2].sum() == 3 && [1u, 2u].sum() == 3u && [1.5, 2.5].sum() == 4.0 && [].sum() == 0',
      "[duration('1s'), duration('1m')].sum() == duration('61s')",
      "['b', 'a'].min() == 'a' && [timestamp('2020-01-01T00:00:00Z')].max().getFullYear() == 2020 && [b'a', b'b'].max() == b'b'",
      '[1, 2, 2].indexOf(2) == 1 && [1, 2, 2].lastIndexOf(2) == 2 && [1].indexOf(3) == -1 && [1].lastIndexOf(3) == -1',
    ],
    fails: [
      ['[].min()', 'min called on empty list'],
      ['[].max()', 'max called on empty list'],
      ['[9223372036854775807, 1].sum()', 'integer overflow'],
      ["[duration('2562047h'), duration('1h')].sum()", 'duration overflow'],
    ],
  },
  regex: {
    true: [
      "'abc 123'.find('[0-9]+') == '123' && 'abc'.find('[0-9]') == ''",
      "'a1b2c3'.findAll('[0-9]') == ['1', '2', '3'] && 'a1b2c3'.findAll('[0-9]', 2) == ['1', '2']",
      "'a'.findAll('[0-9]') == [] && 'a1'.findAll('[0-9]', 0) == [] && 'a1b2'.findAll('[0-9]', -1).size() == 2",
    ],
    fails: [["'a'.find(dyn('('))", 'error parsing regexp: missing closing ): `(`']],
  },
  url: {
    true: [
      "url('https://example.com:80/path?query=val#fragment').getHost() == 'example.com:80'",
      "url('https://user:pw@example.com:80/').getHostname() == 'example.com' && url('https://[::1]:80/').getHostname() == '::1'",
      "url('https://[::1]:80/').getHost() == '[::1]:80' && url('https://[::1]:80/').getPort() == '80' && url('/a').getPort() == ''",
      "url('HTTPS://a/').getScheme() == 'https' && url('/a').getScheme() == '' && url('mailto:a@b').getScheme() == 'mailto'",
      "url('https://a/with space/').getEscapedPath() == '/with%20space/' && url('https://a/b%20c').getEscapedPath() == '/b%20c'",
      "url('https://a/é(x)').getEscapedPath() == '/%C3%A9%28x%29' && url('https://a/(x)').getEscapedPath() == '/(x)'",
      "url('https://a').getEscapedPath() == '' && url('//a/b').getHost() == 'a'",
      "url('https://a/?k=1&l=x+y&k=%32').getQuery() == {'k': ['1', '2'], 'l': ['x y']}",
      "url('https://a/?b#c').getQuery() == {'b': ['']} && url('https://a/?a=1;b=2&c=%zz&d=4').getQuery() == {'d': ['4']}",
      "url('http://[fe80::1%25en0]:80/').getHostname() == 'fe80::1%en0'",
      "isURL('https://user:pass@example.com:80/') && isURL('/absolute-path') && isURL('mailto:a@b') && isURL('*')",
      "!isURL('https://a:b:c/') && !isURL('../relative-path') && !isURL('') && !isURL('example.com') && !isURL(':a')",
      "!isURL('https://a b/') && !isURL('https://a/%zz') && !isURL('https://[::1/') && !isURL('https://%41/') && isURL('https://%C3%A9/')",
      "url('https://a/b') == url('https://a/b') && url('https://a/b') != url('https://a/b#c')",
    ],
    fails: [
      ["url('../a')", 'URL parse error during conversion from string: parse "../a": invalid URI for request'],
      [
        "url('https://a:b/')",
        'URL parse error during conversion from string: parse "https://a:b/": invalid port ":b" after host',
      ],
    ],
  },
  quantity: {
    true: [
      "isQuantity('1.3G') && !isQuantity('1.3Gb') && isQuantity('-5e3') && !isQuantity('')",
      "quantity('50k').isInteger() && quantity('50k').asInteger() == 50000 && !quantity('1500m').isInteger()",
      "quantity('1500m').asApproximateFloat() == 1.5 && quantity('-1').sign() == -1 && quantity('0').sign() == 0",
      "quantity('50k').add(quantity('20k')) == quantity('70k') && quantity('50k').add(20) == quantity('50020')",
      "quantity('50k').sub(quantity('20k')) == quantity('30k') && quantity('50k').sub(-20) == quantity('50020')",
      "quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('1G').isLessThan(quantity('1Gi'))",
      "quantity('200M').compareTo(quantity('0.2G')) == 0 && quantity('50M').compareTo(quantity('50Mi')) == -1",
    ],
    fails: [
      [
        "quantity('10 Mo')",
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
      ],
      ["quantity('1500m').asInteger()", 'cannot convert value to integer'],
    ],
  },
  ip: {
    true: [
      "isIP('127.0.0.1') && isIP('::1') && !isIP('127.0.0.01') && !isIP('127.0.0.256') && !isIP('') && !isIP('::ffff:1.2.3.4') && !isIP('fe80::1%en0')",
      "ip('2001:DB8::abcd') == ip('2001:db8::ABCD') && string(ip('2001:db8:0:0::1')) == '2001:db8::1' && type(ip('::1')) == net.IP",
      "ip.isCanonical('127.0.0.1') && ip.isCanonical('2001:db8::abcd') && !ip.isCanonical('2001:DB8::ABCD') && !ip.isCanonical('2001:db8::0:0:0:abcd')",
      "ip('127.0.0.1').family() == 4 && ip('::1').family() == 6",
      "ip('0.0.0.0').isUnspecified() && ip('::').isUnspecified() && !ip('127.0.0.1').isUnspecified()",
      "ip('127.9.9.9').isLoopback() && ip('::1').isLoopback() && !ip('192.168.0.1').isLoopback()",
      "ip('224.0.0.1').isLinkLocalMulticast() && !ip('224.0.1.1').isLinkLocalMulticast() && ip('ff02::1').isLinkLocalMulticast()",
      "ip('ff32::1').isLinkLocalMulticast() && !ip('fd00::1').isLinkLocalMulticast() && !ip('ff01::1').isLinkLocalMulticast()",
      "ip('169.254.169.254').isLinkLocalUnicast() && ip('fe80::1').isLinkLocalUnicast() && !ip('192.168.0.1').isLinkLocalUnicast()",
      "ip('192.168.0.1').isGlobalUnicast() && ip('2001:db8::abcd').isGlobalUnicast() && !ip('255.255.255.255').isGlobalUnicast() && !ip('ff00::1').isGlobalUnicast()",
    ],
    fails: [
      ["ip('x')", 'IP Address "x" parse error during conversion from string: ParseAddr("x"): unable to parse IP'],
      ["ip('::ffff:1.2.3.4')", 'IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed'],
      ["ip('fe80::1%en0')", 'IP address "fe80::1%en0" with zone value is not allowed'],
    ],
  },
  cidr: {
    true: [
      "isCIDR('192.168.0.0/16') && isCIDR('::1/128') && !isCIDR('192.168.0.0/33') && !isCIDR('192.168.0.0') && !isCIDR('::1/129') && !isCIDR('10.0.0.0/08')",
      "cidr('192.168.0.0/24').containsIP(ip('192.168.0.1')) && cidr('192.168.0.0/24').containsIP('192.168.0.1') && !cidr('192.168.0.0/24').containsIP('192.168.1.1')",
      "cidr('192.168.0.0/16').containsCIDR(cidr('192.168.10.0/24')) && cidr('192.168.0.0/16').containsCIDR('192.168.0.0/16') && !cidr('192.168.0.0/16').containsCIDR('192.0.0.0/8')",
      "!cidr('0.0.0.0/0').containsIP('::1') && cidr('fd00::/8').containsIP('fd12::1')",
      "cidr('192.168.1.5/24').ip() == ip('192.168.1.5') && cidr('192.168.1.5/24').masked() == cidr('192.168.1.0/24')",
      "cidr('192.168.0.0/24').prefixLength() == 24 && string(cidr('192.168.0.0/24')) == '192.168.0.0/24' && type(cidr('::/0')) == net.CIDR",
    ],
    fails: [
      [
        "cidr('10.0.0.0/8').containsIP('x')",
        'IP Address "x" parse error during conversion from string: ParseAddr("x"): unable to parse IP',
      ],
    ],
  },
  format: {
    true: [
      "!format.dns1123Label().validate('my-label').hasValue() && format.dns1123Label().validate('-').value().size() == 1",
      "format.named('dns1123Label').hasValue() && format.named('dns1123Label').value() == format.dns1123Label() && !format.named('none').hasValue()",
      "!format.dns1123Subdomain().validate('a.b').hasValue() && format.dns1123Subdomain().validate('A.b').hasValue()",
      "!format.dns1035Label().validate('a1').hasValue() && format.dns1035Label().validate('1a').hasValue()",
      "!format.dns1123LabelPrefix().validate('a-').hasValue() && !format.dns1123SubdomainPrefix().validate('a.b-').hasValue() && !format.dns1035LabelPrefix().validate('a-').hasValue()",
      "!format.qualifiedName().validate('a.io/b').hasValue() && format.qualifiedName().validate('a/b/c').hasValue()",
      "!format.labelValue().validate('').hasValue() && format.labelValue().validate('-').hasValue()",
      "!format.uri().validate('https://a/').hasValue() && format.uri().validate('a').value() == ['invalid URI']",
      "!format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue() && format.uuid().validate('1').value() == ['does not match the UUID format']",
      "!format.byte().validate('aGVsbG8=').hasValue() && format.byte().validate('*').value() == ['invalid base64']",
      "!format.date().validate('2021-02-28').hasValue() && format.date().validate('2021-02-30').value() == ['invalid date']",
      "!format.datetime().validate('2021-01-01T00:00:00Z').hasValue() && format.datetime().validate('2021-01-01').value() == ['invalid datetime']",
    ],
  },
  semver: {
    true: [
      "isSemver('1.0.0-beta.1+build') && !isSemver('v1.0.0') && !isSemver('1.0') && !isSemver('01.0.0') && !isSemver('1.0.0-01')",
      "isSemver('v1.0', true) && isSemver('1', true) && isSemver('01.01.01', true) && !isSemver('Three', true)",
      "semver('1.2.3').major() == 1 && semver('1.2.3').minor() == 2 && semver('1.2.3').patch() == 3",
      "semver('1.2.3').compareTo(semver('1.10.0')) == -1 && semver('1.0.0').compareTo(semver('1.0.0')) == 0",
      "semver('1.0.0').isGreaterThan(semver('1.0.0-rc.2')) && semver('1.0.0-rc.2').isLessThan(semver('1.0.0-rc.10'))",
      "semver('1.0.0+a') == semver('1.0.0+b') && semver('v1', true) == semver('1.0.0')",
    ],
    fails: [["semver('x')", 'No Major.Minor.Patch elements found']],
  },
  optionals: {
    true: [
      "{'a': 1}[?'b'].orValue(2) == 2 && {'a': {'b': 1}}.?a.?b.value() == 1 && ![1][?1].hasValue() && [1][?0].value() == 1",
      "[?optional.none(), 1] == [1] && {?'a': optional.none()} == {} && {?'a': optional.of(1)} == {'a': 1}",
      'optional.of(1).optMap(x, x + 1) == optional.of(2) && optional.of(1).optFlatMap(x, optional.none()) == optional.none()',
      "!optional.ofNonZeroValue('').hasValue() && !optional.ofNonZeroValue([]).hasValue() && optional.ofNonZeroValue(1).hasValue()",
      'optional.none().or(optional.of(1)).value() == 1 && optional.of(2).or(optional.of(1)).value() == 2',
    ],
    fails: [['optional.none().value()', 'optional.none() dereference']],
  },
  strings: {
    true: [
      "'hello'.charAt(4) == 'o' && 'hello'.charAt(5) == '' && 'héllo'.indexOf('l') == 2 && 'hello mellow'.indexOf('ello', 2) == 7",
      "'hello mellow'.lastIndexOf('ello') == 7 && 'hello mellow'.lastIndexOf('ello', 6) == 1 && 'hello'.indexOf('x') == -1 && 'hello'.lastIndexOf('') == 5",
      "'TacoCat'.lowerAscii() == 'tacocat' && 'TacoCÆt'.upperAscii() == 'TACOCÆT' && '  a b '.trim() == 'a b'",
      "'hello hello'.replace('he', 'we') == 'wello wello' && 'hello hello'.replace('he', 'we', 1) == 'wello hello' && 'ab'.replace('', '_') == '_a_b_'",
      "'a-b-c'.split('-') == ['a', 'b', 'c'] && 'a-b-c'.split('-', 2) == ['a', 'b-c'] && 'a-b'.split('-', 0) == [] && 'ab'.split('') == ['a', 'b']",
      "['a', 'b'].join() == 'ab' && ['a', 'b'].join('-') == 'a-b' && 'tacocat'.substring(4) == 'cat' && 'tacocat'.substring(0, 4) == 'taco'",
      `'%s %d %.1f %x %X %b %o'.format(['a', 1, 1.5, 255, 255, 5, 8]) == 'a 1 1.5 ff FF 101 10' && strings.quote('a"b') == '"a\\\\"b"'`,
      `strings.quote('${'a'.repeat(1_000)}').size() == 1002`,
    ],
    fails: [
      ["'hello'.charAt(6)", 'index out of range: 6'],
      ["'x'.substring(2)", 'index out of range: 2'],
      ["'abc'.substring(2, 1)", 'invalid substring range. start: 2, end: 1'],
      ["'%s'.format([])", 'index 0 out of range'],
    ],
  },
  sets: {
    true: [
      'sets.contains([1, 2, 3], [2]) && sets.contains([], []) && !sets.contains([1], [1, 2])',
      'sets.equivalent([1, 1], [1]) && !sets.equivalent([1], [1, 2]) && sets.equivalent([], [])',
      'sets.intersects([1, 2], [2, 3]) && !sets.intersects([1], []) && sets.intersects([dyn(1)], [1.0])',
    ],
  },
  'two-variable comprehensions': {
    true: [
      "[1, 2].all(i, v, i < v) && {'a': 1}.exists(k, v, k == 'a' && v == 1) && [1, 2].existsOne(i, v, v == 2)",
      '[1, 2].transformList(i, v, i * v) == [0, 2] && [1, 2].transformList(i, v, v > 1, v) == [2]',
      "{'a': 1}.transformMap(k, v, v + 1) == {'a': 2} && [5, 6].transformMap(i, v, i > 0, v) == {1: 6}",
      "{'a': 1}.transformMapEntry(k, v, {v: k}) == {1: 'a'} && {'a': 1, 'b': 2}.transformMapEntry(k, v, v > 1, {v: k}) == {2: 'b'}",
    ],
    fails: [["{'a': 1, 'b': 1}.transformMapEntry(k, v, {v: k})", 'insert failed: key 1 already exists']],
  },
};

describe.each(Object.entries(LIBRARIES))('%s', (_name, library) => {
  it.each(library.true)('%s', (expression) => {
    expect(resultOf(expression)).toBe(true);
  });

  const fails = library.fails ?? [];
  if (fails.length > 0) {
    it.each(fails)('%s fails', (expression, error) => {
      expect(resultOf(expression)).toBe(`error: ${error}`);
    });
  }
});
