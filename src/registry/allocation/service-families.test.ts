import type { ServiceSpec } from '../../api/schema/generated/core-v1';
import { chooseFamilies, type ClusterFamilies } from './service-families';

const ONE: ClusterFamilies = ['IPv4'];
const TWO: ClusterFamilies = ['IPv4', 'IPv6'];
const OTHER: ClusterFamilies = ['IPv6', 'IPv4'];
const headless = { clusterIP: 'None', clusterIPs: ['None'] };
const both = { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', 'fd00::1'] };
const first = { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] };

function chosen(spec: ServiceSpec, families: ClusterFamilies, oldSpec?: ServiceSpec): readonly unknown[] {
  const { fields, errors } = chooseFamilies({ type: 'ClusterIP', ...spec }, oldSpec, families);
  if (errors.length > 0) return errors.map(({ field, message }) => `${field}: ${message}`);
  return fields.ipFamilies === undefined ? [] : [fields.ipFamilyPolicy, ...fields.ipFamilies];
}

describe('the families of a new service', () => {
  test.each<[string, ClusterFamilies, ServiceSpec, readonly string[]]>([
    ['are not spoken of where there is one', ONE, {}, []],
    ['nor of a mere name', TWO, { type: 'ExternalName' }, []],
    ['are the primary one', OTHER, {}, ['SingleStack', 'IPv6']],
    ['are shown to those who name them', ONE, { ipFamilyPolicy: 'SingleStack' }, ['SingleStack', 'IPv4']],
    ['are one when two are only preferred', ONE, { ipFamilyPolicy: 'PreferDualStack' }, ['PreferDualStack', 'IPv4']],
    ['are both when preferred', TWO, { ipFamilyPolicy: 'PreferDualStack' }, ['PreferDualStack', 'IPv4', 'IPv6']],
    [
      'keep their order',
      TWO,
      { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6'] },
      ['RequireDualStack', 'IPv6', 'IPv4'],
    ],
    ['follow an address', TWO, { clusterIP: 'fd00::1', clusterIPs: ['fd00::1'] }, ['SingleStack', 'IPv6']],
    ['follow two addresses', TWO, { ...both, ipFamilyPolicy: 'PreferDualStack' }, ['PreferDualStack', 'IPv4', 'IPv6']],
    [
      'are all where somebody else lists addresses',
      ONE,
      { ...headless, ipFamilyPolicy: 'PreferDualStack' },
      ['PreferDualStack', 'IPv4', 'IPv6'],
    ],
    ['are all by default there', OTHER, headless, ['RequireDualStack', 'IPv6', 'IPv4']],
    [
      'are the primary one where pods are selected',
      TWO,
      { ...headless, selector: { a: 'b' } },
      ['SingleStack', 'IPv4'],
    ],
  ])('%s', (_what, families, spec, expected) => {
    expect(chosen(spec, families)).toEqual(expected);
  });

  test.each<[string, ClusterFamilies, ServiceSpec, readonly string[]]>([
    [
      'both where there is one',
      ONE,
      { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6'] },
      [
        'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
        'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
      ],
    ],
    [
      'an address of another family',
      ONE,
      { clusterIP: 'fd00::1', clusterIPs: ['fd00::1'], ipFamilyPolicy: 'SingleStack' },
      ['spec.clusterIPs[0]: Invalid value: []string{"fd00::1"}: IPv6 is not configured on this cluster'],
    ],
    [
      'two of everything without saying so',
      TWO,
      { ...both, ipFamilies: ['IPv4', 'IPv6'] },
      ['cluster IPs', 'IP families'].map(
        (what) =>
          'spec.ipFamilyPolicy: Invalid value: "SingleStack": ' +
          `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`,
      ),
    ],
  ])('cannot be %s', (_what, families, spec, problems) => {
    expect(chosen(spec, families)).toEqual(problems);
  });
});

describe('the families of a changed service', () => {
  const single = { type: 'ClusterIP', ...first, ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' };
  const preferring = { ...single, ipFamilyPolicy: 'PreferDualStack' };
  const dual = { ...single, ...both, ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' };

  test.each<[string, ServiceSpec, ServiceSpec, readonly string[]]>([
    ['gain the second', { ...single, ipFamilyPolicy: 'PreferDualStack' }, single, ['PreferDualStack', 'IPv4', 'IPv6']],
    [
      'gain the second in a service of the time before',
      { ...first, ipFamilyPolicy: 'PreferDualStack' },
      { type: 'ClusterIP', ...first },
      ['PreferDualStack', 'IPv4', 'IPv6'],
    ],
    ['stay when the cluster has gained one', preferring, preferring, []],
    ['stay when they are left out', both, dual, ['RequireDualStack', 'IPv4', 'IPv6']],
    ['lose the second', { ...single }, dual, ['SingleStack', 'IPv4']],
    ['come with an address', first, { type: 'ExternalName' }, ['SingleStack', 'IPv4']],
    ['come to a service of the time before', first, { type: 'ClusterIP', ...first }, ['SingleStack', 'IPv4']],
    [
      'come to one without addresses',
      headless,
      { type: 'ClusterIP', ...headless },
      ['PreferDualStack', 'IPv4', 'IPv6'],
    ],
  ])('%s', (_what, spec, oldSpec, expected) => {
    expect(chosen(spec, TWO, oldSpec)).toEqual(expected);
  });
});
