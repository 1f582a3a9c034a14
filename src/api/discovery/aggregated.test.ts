import { CATALOGUE } from '../kinds/catalogue';
import { printYaml } from '../codec/yaml-print';
import type { KindDefinition } from '../kinds/kind-definition';
import { atOnce } from '../parts';
import { aggregatedDiscovery, printAggregatedDiscovery, printDiscoveryYaml } from './aggregated';
import type { DiscoveredGroup } from './groups';

const groups: readonly DiscoveredGroup[] = [
  { name: '', versions: ['v1'] },
  { name: 'apps', versions: ['v1', 'v2'] },
  { name: 'batch', versions: ['v1', 'v1beta1'] },
  { name: 'far.example.io', versions: ['v1'] },
];
const remote = new Map([['far.example.io/v1', { resources: [{ resource: 'boats' }], freshness: 'Stale' as const }]]);

function bothWays(definitions: readonly KindDefinition[]): readonly [unknown, unknown] {
  const text = atOnce(printAggregatedDiscovery(definitions, groups, 'v2', remote));
  return [JSON.parse(text), JSON.parse(JSON.stringify(atOnce(aggregatedDiscovery(definitions, groups, 'v2', remote))))];
}

it('tells the same printed piece by piece as made as a whole', () => {
  const [printed, whole] = bothWays(CATALOGUE);
  expect(printed).toEqual(whole);
  expect(JSON.stringify(printed)).toContain('"subresource":"exec"');
});

it('tells of kinds as they are now', () => {
  bothWays(CATALOGUE);
  const changed = CATALOGUE.map((one) => (one.kind === 'Pod' ? { ...one, shortNames: ['other'] } : one));
  const [printed, whole] = bothWays(changed);
  expect(printed).toEqual(whole);
  expect(JSON.stringify(printed)).toContain('"shortNames":["other"]');
});

it('prints anew only kinds that have changed', () => {
  atOnce(printAggregatedDiscovery(CATALOGUE, groups, 'v2'));
  const print = jest.spyOn(JSON, 'stringify');
  const changed = CATALOGUE.map((one) => (one.kind === 'Pod' ? { ...one } : one));
  atOnce(printAggregatedDiscovery(changed, groups, 'v2'));
  const printedKinds = print.mock.calls.filter(([value]) => typeof value === 'object').length;
  print.mockRestore();
  expect(printedKinds).toBe(1);
});

it.each([
  ['of some groups', groups],
  ['of none', []],
])('prints YAML as that of the whole: %s', (_, told) => {
  const list = atOnce(aggregatedDiscovery(CATALOGUE, told, 'v2', remote));
  expect(atOnce(printDiscoveryYaml(list))).toBe(printYaml(list));
});

it.each([
  ['JSON', () => printAggregatedDiscovery(CATALOGUE, groups, 'v2')],
  ['an object', () => aggregatedDiscovery(CATALOGUE, groups, 'v2')],
  ['YAML', () => printDiscoveryYaml(atOnce(aggregatedDiscovery(CATALOGUE, groups, 'v2')))],
])('gives way to others while it is made: %s', (_, steps) => {
  expect([...steps()].length).toBeGreaterThanOrEqual(groups.length);
});
