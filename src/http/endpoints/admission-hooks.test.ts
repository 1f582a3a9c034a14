import type { KubeObject } from '../../api/object';
import { admissionHooks } from './admission-hooks';
import type { EndpointDependencies, ResourceRequest } from './endpoint';

const small: KubeObject = { metadata: { name: 'a' } };
const large: KubeObject = {
  metadata: { name: 'a' },
  data: Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, 'v'])),
};

test.each([
  ['large takes a place and gives way', large, 1],
  ['another small one goes on at once', { metadata: { name: 'a', labels: { a: 'b' } } }, 0],
  ['the same goes on at once', undefined, 0],
])('a small object of which a webhook makes %s', async (_, made, places) => {
  let begun = 0;
  const context = {
    info: { subresource: '', namespace: '', named: true, name: 'a' },
    givesWay: false,
    beginLarge: () => {
      begun += 1;
      return Promise.resolve();
    },
  };
  const served = { version: { group: '', version: 'v1' }, definition: { resource: 'configmaps', kind: 'ConfigMap' } };
  const request = { context, served, user: { name: 'u', groups: [] } } as unknown as ResourceRequest;
  const dependencies = { admission: { mutate: () => made } } as unknown as EndpointDependencies;
  expect(await admissionHooks(request, dependencies, {}, false).mutate('CREATE', small, undefined)).toEqual(
    made ?? small,
  );
  expect(begun).toBe(places);
});
