import { AddressRange } from '../registry/allocation/address-range';
import type { ServiceRanges } from '../apiserver/service-ranges';
import type { PortRange } from '../registry/allocation/node-ports';

interface ServiceRangeOptions {
  readonly serviceClusterIpRange: readonly string[];
  readonly serviceNodePortRange: string;
}

export const DEFAULT_SERVICE_RANGES: ServiceRanges = {
  addressRanges: ['10.0.0.0/24'],
  nodePorts: { first: 30_000, last: 32_767 },
};

/** Larger networks would make the list of their taken addresses large, which is written with every change. */
const MAX_HOST_BITS = 20;
const MAX_PORT = 65_535;

/** `30000-32767`, `30000+2767` or one port; undefined for anything else. */
function parsePortRange(text: string): PortRange | undefined {
  const [, first = '', sign, second = ''] = /^(\d+)(?:([-+])(\d+))?$/.exec(text.trim()) ?? [];
  if (first === '') return undefined;
  const start = Number(first);
  const last = sign === undefined ? start : sign === '-' ? Number(second) : Math.min(start + Number(second), MAX_PORT);
  return start >= 1 && start <= last && last <= MAX_PORT ? { first: start, last } : undefined;
}

function addressRangeProblems(texts: readonly string[], dualStack: boolean): readonly string[] {
  const flag = '--service-cluster-ip-range';
  if (texts.length === 0) return [`${flag} must contain at least one valid cidr`];
  if (texts.length > 2) return [`${flag} must not contain more than two entries`];
  const problems: string[] = [];
  const families = texts.map((text, index) => {
    try {
      const { family } = new AddressRange(text);
      const bits = family === 'IPv4' ? 32 : 128;
      const least = bits - MAX_HOST_BITS;
      if (Number(text.split('/')[1]) < least) {
        problems.push(
          `specified ${flag}[${index}] is too large; for ${bits}-bit addresses, the mask must be >= ${least}`,
        );
      }
      return family;
    } catch (error) {
      problems.push(`${flag}[${index}]: ${(error as Error).message}`);
      return undefined;
    }
  });
  if (texts.length === 2 && problems.length === 0) {
    if (families[0] === families[1]) problems.push(`${flag}[0] and ${flag}[1] must be of different IP family`);
    if (!dualStack) problems.push(`${flag}[1] can only be used if IPv6DualStack feature is enabled`);
  }
  return problems;
}

/** `--service-cluster-ip-range` and `--service-node-port-range` read; with problems, the ranges mean nothing. */
export function serviceRangesFromFlags(
  { serviceClusterIpRange, serviceNodePortRange }: ServiceRangeOptions,
  dualStack: boolean,
): { readonly ranges: ServiceRanges; readonly problems: readonly string[] } {
  const nodePorts = parsePortRange(serviceNodePortRange);
  const problems = [
    ...addressRangeProblems(serviceClusterIpRange, dualStack),
    ...(nodePorts === undefined
      ? [`--service-node-port-range: not a range of ports: ${JSON.stringify(serviceNodePortRange)}`]
      : []),
  ];
  const [primary = '', secondary] = serviceClusterIpRange;
  return {
    ranges: {
      addressRanges: secondary === undefined ? [primary] : [primary, secondary],
      nodePorts: nodePorts ?? DEFAULT_SERVICE_RANGES.nodePorts,
    },
    problems,
  };
}
