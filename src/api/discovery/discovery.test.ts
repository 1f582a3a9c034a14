import { CATALOGUE } from '../kinds/catalogue';
import { defineKind } from '../kinds/define-kind';
import { atOnce } from '../parts';
import { aggregatedDiscovery } from './aggregated';
import { apiGroup, apiGroupList } from './groups';
import { apiResourceList, storageVersionHash } from './resource-list';

const deployment = defineKind({
  group: 'apps',
  kind: 'Deployment',
  resource: 'deployments',
  shortNames: ['deploy'],
  categories: ['all'],
  namespaced: true,
  versions: ['v1'],
  subresources: [
    { name: 'status', verbs: ['get', 'patch', 'update'] },
    {
      name: 'scale',
      verbs: ['get', 'patch', 'update'],
      wireKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    },
  ],
});
const node = defineKind({ group: '', kind: 'Node', resource: 'nodes', namespaced: false, versions: ['v1'] });

describe('discovery', () => {
  it('names a group with its versions, the preferred one first', () => {
    expect(apiGroup({ name: 'batch', versions: ['v1', 'v1beta1'] })).toEqual({
      kind: 'APIGroup',
      apiVersion: 'v1',
      name: 'batch',
      versions: [
        { groupVersion: 'batch/v1', version: 'v1' },
        { groupVersion: 'batch/v1beta1', version: 'v1beta1' },
      ],
      preferredVersion: { groupVersion: 'batch/v1', version: 'v1' },
    });
    expect(apiGroupList([{ name: 'apps', versions: ['v1'] }])).toMatchObject({
      groups: [{ name: 'apps', preferredVersion: { version: 'v1' } }],
    });
  });

  it('lists resources and subresources by name, with the kind that a subresource speaks', () => {
    const list = apiResourceList([deployment, node], 'apps', 'v1');
    expect(list).toMatchObject({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'apps/v1' });
    expect(list?.resources.map(({ name }) => name)).toEqual(['deployments', 'deployments/scale', 'deployments/status']);
    expect(list?.resources[0]).toMatchObject({ shortNames: ['deploy'], categories: ['all'], namespaced: true });
    expect(list?.resources[1]).toMatchObject({ kind: 'Scale', group: 'autoscaling', version: 'v1' });
    expect(apiResourceList([node], 'apps', 'v1')).toBeUndefined();
  });

  it('leaves the apiVersion out of the core list, as clients know it', () => {
    expect(apiResourceList([node], '', 'v1')).not.toHaveProperty('apiVersion');
  });

  it('gives the storage version as a digest that the storage migrator compares', () => {
    expect(storageVersionHash(deployment)).toBe('8aSe+NMegvE=');
  });

  it.each([
    ['Ingress', 'ZOAfGflaKd0='],
    ['EndpointSlice', 'Nx3SIv6I0mE='],
    ['HorizontalPodAutoscaler', 'oQlkt7f5j/A='],
    ['CustomResourceDefinition', 'jfWCUB31mvA='],
    ['APIService', 'C+s2HXXP47k='],
  ])('gives the digest of the version that is written: %s', (kind, hash) => {
    expect(storageVersionHash(CATALOGUE.find((one) => one.kind === kind)!)).toBe(hash);
  });

  it('tells everything at once to a client that accepts the aggregated form', () => {
    const list = atOnce(aggregatedDiscovery([deployment, node], [{ name: 'apps', versions: ['v1'] }], 'v2'));
    expect(list).toEqual({
      kind: 'APIGroupDiscoveryList',
      apiVersion: 'apidiscovery.k8s.io/v2',
      metadata: {},
      items: [
        {
          metadata: { name: 'apps', creationTimestamp: null },
          versions: [
            {
              version: 'v1',
              freshness: 'Current',
              resources: [
                {
                  resource: 'deployments',
                  responseKind: { group: 'apps', version: 'v1', kind: 'Deployment' },
                  scope: 'Namespaced',
                  singularResource: 'deployment',
                  verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
                  shortNames: ['deploy'],
                  categories: ['all'],
                  subresources: [
                    {
                      subresource: 'scale',
                      responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
                      verbs: ['get', 'patch', 'update'],
                    },
                    {
                      subresource: 'status',
                      responseKind: { group: 'apps', version: 'v1', kind: 'Deployment' },
                      verbs: ['get', 'patch', 'update'],
                    },
                  ],
                },
              ],
            },
          ],
        },
      ],
    });
  });
});
