import { CATALOGUE } from '../kinds/catalogue';
import type { KindDefinition } from '../kinds/kind-definition';
import { aggregatedDiscovery, printAggregatedDiscovery } from './aggregated';
import type { DiscoveredGroup } from './groups';

const groups: readonly DiscoveredGroup[] = [
  { name: '', versions: ['v1'] },
  { name: 'apps', versions: ['v1', 'v2'] },
  { name: 'batch', versions: ['v1', 'v1beta1'] },
  { name: 'far.example.io', versions: ['v1'] },
];
const remote = new Map([['far.example.io/v1', { resources: [{ resource: 'boats' }], freshness: 'Stale' as const }]]);

function bothWays(definitions: readonly KindDefinition[]): readonly [unknown, unknown] {
  const text = printAggregatedDiscovery(definitions, groups, 'v2', remote);
  return [JSON.parse(text), JSON.parse(JSON.stringify(aggregatedDiscovery(definitions, groups, 'v2', remote)))];
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
  printAggregatedDiscovery(CATALOGUE, groups, 'v2');
  const print = jest.spyOn(JSON, 'stringify');
  const changed = CATALOGUE.map((one) => (one.kind === 'Pod' ? { ...one } : one));
  printAggregatedDiscovery(changed, groups, 'v2');
  const printedKinds = print.mock.calls.filter(([value]) => typeof value === 'object').length;
  print.mockRestore();
  expect(printedKinds).toBe(1);
});
