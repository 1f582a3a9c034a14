import type { KubeObject } from '../api/object';
import { atOnce } from '../api/parts';
import { formatResourceList, parseResourceList, type ResourceList } from '../api/quota/resource-list';
import { take } from '../api/steps/both-forms.fixture';
import { ROUNDS_BETWEEN_PAUSES } from '../api/steps/pace';
import { increaseOf, measuresOf, recountedUsage, usageOf } from './resource-quota-usage';

const list = (texts: Record<string, string>) => atOnce(parseResourceList(texts));
const texts = (amounts: ResourceList) => atOnce(formatResourceList(amounts));

describe('recounting quotas', () => {
  it('finds out what has to be counted', () => {
    const names = ['pods', 'requests.cpu', 'configmaps', 'count/deployments.apps', 'services.nodeports', 'count/pods'];
    const found = atOnce(measuresOf(names, () => 0)).map(({ of, names: by, onlyNumber }) => [of, by, onlyNumber]);
    expect(found).toEqual([
      [{ group: '', resource: 'pods' }, ['pods', 'requests.cpu', 'count/pods'], false],
      [{ group: '', resource: 'services' }, ['services.nodeports'], false],
      [{ group: '', resource: 'configmaps' }, ['configmaps'], true],
      [{ group: 'apps', resource: 'deployments' }, ['count/deployments.apps'], true],
    ]);
  });

  it('adds up the objects within the scopes', () => {
    const quota: KubeObject = { metadata: {}, spec: { scopes: ['NotBestEffort'] } };
    const [measure] = atOnce(measuresOf(['pods', 'requests.cpu'], () => 0));
    const pod = (cpu: string, phase = 'Running'): KubeObject => ({
      metadata: {},
      spec: { containers: [{ name: 'c', resources: { requests: { cpu } } }] },
      status: { phase },
    });
    const bestEffort = { metadata: {}, spec: { containers: [{ name: 'c' }] } };
    const used = atOnce(usageOf(quota, measure!, [pod('100m'), pod('1'), pod('5', 'Succeeded'), bestEffort]));
    expect(texts(used)).toEqual({ pods: '2', 'requests.cpu': '1100m' });
    expect(texts(atOnce(usageOf(quota, measure!, [])))).toEqual({ pods: '0', 'requests.cpu': '0' });
  });

  it.each([
    // counted, current, charged a moment ago -> set
    ['3', '5', '0', '3'],
    ['3', '5', '1', '4'],
    ['3', '5', '9', '5'],
    ['5', '3', '9', '5'],
    ['0', '2', '2', '2'],
  ])('counted %s of %s, %s of them just now: sets %s', (counted, current, recent, expected) => {
    const used = atOnce(recountedUsage(list({ pods: counted }), list({ pods: current }), list({ pods: recent })));
    expect(texts(used)).toEqual({ pods: expected });
  });

  it('sees what has been charged between two states', () => {
    const increase = atOnce(increaseOf(list({ a: '1', b: '5' }), list({ a: '3', b: '4', c: '1' })));
    expect(texts(increase)).toEqual({ a: '2' });
  });

  describe('with thousands of names', () => {
    const COUNT = 2_000;
    const names = Array.from({ length: COUNT }, (_, index) => `requests.example.com/r${index}`);

    it('finds out what has to be counted in steps that grow as the names do', () => {
      const stepsFor = (count: number) => take(measuresOf(names.slice(0, count), () => 0)).pauses;
      expect(stepsFor(COUNT)).toBeGreaterThan((4 * COUNT) / ROUNDS_BETWEEN_PAUSES);
      expect(stepsFor(COUNT)).toBeLessThan(2.1 * stepsFor(COUNT / 2));
    });

    it('looks, for each object, at what that names', () => {
      const [measure] = atOnce(measuresOf(names, () => 0));
      const pod = (cpu: string): KubeObject => ({
        metadata: {},
        spec: { containers: [{ name: 'c', resources: { requests: { 'example.com/r1': cpu } } }] },
      });
      const stepsFor = (objects: readonly KubeObject[]) => take(usageOf({ metadata: {} }, measure!, objects)).pauses;
      const none = stepsFor([]);
      expect(none).toBeGreaterThan((COUNT - ROUNDS_BETWEEN_PAUSES) / ROUNDS_BETWEEN_PAUSES);
      expect(stepsFor(Array.from({ length: 100 }, () => pod('1')))).toBeLessThan(2 * none);
    });
  });
});
