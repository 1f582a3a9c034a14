import { atOnce } from '../../parts';
import type { PodSpec } from '../../schema/generated/core-v1';
import { qosClassOf, type QosClass } from './pod-qos';

const qosOf = (spec: PodSpec): QosClass => atOnce(qosClassOf(spec));

type Amounts = Readonly<Record<string, string>>;

function container(limits?: Amounts, requests?: Amounts) {
  return { resources: { ...(limits && { limits }), ...(requests && { requests }) } };
}

const both = { cpu: '1', memory: '1Gi' };

describe('the quality of service of a pod', () => {
  test.each([
    ['nothing', [container()], 'BestEffort'],
    ['amounts of zero', [container({ memory: '0' })], 'BestEffort'],
    [
      'resources of devices and disks',
      [container({ 'ephemeral-storage': '1Gi', 'example.com/gpu': '1' })],
      'BestEffort',
    ],
    ['a request', [container(undefined, { cpu: '1m' })], 'Burstable'],
    ['limits of one resource', [container({ cpu: '1' }, { cpu: '1' })], 'Burstable'],
    ['limits above requests', [container(both, { cpu: '500m', memory: '1Gi' })], 'Burstable'],
    ['equal amounts of both', [container(both, { cpu: '1000m', memory: '1Gi' })], 'Guaranteed'],
    ['one container without limits', [container(both, both), container()], 'Burstable'],
  ] as const)('%s: %#', (_what, containers, expected) => {
    expect(qosOf({ containers })).toBe(expected);
  });

  test('counts init containers', () => {
    expect(qosOf({ containers: [container(both, both)], initContainers: [container()] })).toBe('Burstable');
  });
});
