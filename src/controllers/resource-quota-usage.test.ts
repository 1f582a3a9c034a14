import type { KubeObject } from '../api/object';
import { formatResourceList, parseResourceList } from '../api/quota/resource-list';
import { increaseOf, measuresOf, recountedUsage, usageOf } from './resource-quota-usage';

const list = (texts: Record<string, string>) => parseResourceList(texts);

describe('recounting quotas', () => {
  it('finds out what has to be counted', () => {
    const names = ['pods', 'requests.cpu', 'configmaps', 'count/deployments.apps', 'services.nodeports', 'count/pods'];
    const found = measuresOf(names, () => 0).map(({ of, names: by, onlyNumber }) => [of, by, onlyNumber]);
    expect(found).toEqual([
      [{ group: '', resource: 'pods' }, ['pods', 'requests.cpu', 'count/pods'], false],
      [{ group: '', resource: 'services' }, ['services.nodeports'], false],
      [{ group: '', resource: 'configmaps' }, ['configmaps'], true],
      [{ group: 'apps', resource: 'deployments' }, ['count/deployments.apps'], true],
    ]);
  });

  it('adds up the objects within the scopes', () => {
    const quota: KubeObject = { metadata: {}, spec: { scopes: ['NotBestEffort'] } };
    const [measure] = measuresOf(['pods', 'requests.cpu'], () => 0);
    const pod = (cpu: string, phase = 'Running'): KubeObject => ({
      metadata: {},
      spec: { containers: [{ name: 'c', resources: { requests: { cpu } } }] },
      status: { phase },
    });
    const bestEffort = { metadata: {}, spec: { containers: [{ name: 'c' }] } };
    const used = usageOf(quota, measure!, [pod('100m'), pod('1'), pod('5', 'Succeeded'), bestEffort]);
    expect(formatResourceList(used)).toEqual({ pods: '2', 'requests.cpu': '1100m' });
    expect(formatResourceList(usageOf(quota, measure!, []))).toEqual({ pods: '0', 'requests.cpu': '0' });
  });

  it.each([
    // counted, current, charged a moment ago -> set
    ['3', '5', '0', '3'],
    ['3', '5', '1', '4'],
    ['3', '5', '9', '5'],
    ['5', '3', '9', '5'],
    ['0', '2', '2', '2'],
  ])('counted %s of %s, %s of them just now: sets %s', (counted, current, recent, expected) => {
    const used = recountedUsage(list({ pods: counted }), list({ pods: current }), list({ pods: recent }));
    expect(formatResourceList(used)).toEqual({ pods: expected });
  });

  it('sees what has been charged between two states', () => {
    const increase = increaseOf(list({ a: '1', b: '5' }), list({ a: '3', b: '4', c: '1' }));
    expect(formatResourceList(increase)).toEqual({ a: '2' });
  });
});
