import { DEFAULT_SERVICE_RANGES, serviceRangesFromFlags } from './service-range-flags';

function read(ranges: readonly string[], ports = '30000-32767', dualStack = true) {
  return serviceRangesFromFlags({ serviceClusterIpRange: ranges, serviceNodePortRange: ports }, dualStack);
}

describe('the ranges of services', () => {
  it.each([
    ['30000-32767', 30_000, 32_767],
    ['30000+10', 30_000, 30_010],
    ['65000+1000', 65_000, 65_535],
    ['80', 80, 80],
  ])('have the node ports %s', (text, first, last) => {
    expect(read(['10.0.0.0/24'], text)).toEqual({
      ranges: { addressRanges: ['10.0.0.0/24'], nodePorts: { first, last } },
      problems: [],
    });
  });

  it('are of both families in either order', () => {
    const addressRanges = ['fd00::/108', '10.96.0.0/12'];
    expect(read(addressRanges)).toEqual({
      ranges: { addressRanges, nodePorts: DEFAULT_SERVICE_RANGES.nodePorts },
      problems: [],
    });
  });

  it.each<[string, readonly string[], string, boolean, string]>([
    ['none', [], '1-2', true, '--service-cluster-ip-range must contain at least one valid cidr'],
    [
      'three',
      ['10.0.0.0/24', 'fd00::/112', '10.0.1.0/24'],
      '1-2',
      true,
      '--service-cluster-ip-range must not contain more than two entries',
    ],
    [
      'two of one family',
      ['10.0.0.0/24', '10.0.1.0/24'],
      '1-2',
      true,
      '--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family',
    ],
    [
      'too large',
      ['fd00::/64'],
      '1-2',
      true,
      'specified --service-cluster-ip-range[0] is too large; for 128-bit addresses, the mask must be >= 108',
    ],
    [
      'two without the gate',
      ['10.0.0.0/24', 'fd00::/112'],
      '1-2',
      false,
      '--service-cluster-ip-range[1] can only be used if IPv6DualStack feature is enabled',
    ],
    ['no network', ['x'], '1-2', true, '--service-cluster-ip-range[0]: not a network of addresses: "x"'],
    ['ports upside down', ['10.0.0.0/24'], '2-1', true, '--service-node-port-range: not a range of ports: "2-1"'],
    [
      'ports beyond the last',
      ['10.0.0.0/24'],
      '1-65536',
      true,
      '--service-node-port-range: not a range of ports: "1-65536"',
    ],
  ])('cannot be %s', (_what, ranges, ports, dualStack, problem) => {
    expect(read(ranges, ports, dualStack).problems).toEqual([problem]);
  });
});
