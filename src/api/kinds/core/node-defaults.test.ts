import type { KubeObject } from '../../object';
import { defaultNode } from './node-defaults';

function node(fields: object): KubeObject {
  return { metadata: { name: 'n' }, ...fields };
}

describe('the defaults of a node', () => {
  test.each<[string, object, object]>([
    ['of nothing are nothing', {}, {}],
    [
      'list its only block of addresses',
      { spec: { podCIDR: '10.1.0.0/24' } },
      { spec: { podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'] } },
    ],
    [
      'name the first block of a list',
      { spec: { podCIDRs: ['10.1.0.0/24', 'fd00::/64'] } },
      { spec: { podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24', 'fd00::/64'] } },
    ],
    [
      'believe the older field',
      { spec: { podCIDR: '10.2.0.0/24', podCIDRs: ['10.1.0.0/24', 'fd00::/64'] } },
      { spec: { podCIDR: '10.2.0.0/24', podCIDRs: ['10.2.0.0/24'] } },
    ],
    [
      'let all be used that there is, to the thousandth',
      { status: { capacity: { cpu: '1500u', pods: '10' } } },
      { status: { capacity: { cpu: '2m', pods: '10' }, allocatable: { cpu: '2m', pods: '10' } } },
    ],
    [
      'leave what can be used',
      { status: { capacity: { cpu: '2' }, allocatable: { cpu: '1' } } },
      { status: { capacity: { cpu: '2' }, allocatable: { cpu: '1' } } },
    ],
  ])('%s', (_what, fields, expected) => {
    expect(defaultNode(node(fields))).toEqual(node(expected));
  });
});
