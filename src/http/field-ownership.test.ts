import type { KubeObject } from '../api/object';
import type { ServedResource } from './dependencies';
import { noFieldOwnership } from './field-ownership';

describe('without server-side apply', () => {
  const served = {} as ServedResource;

  it('nobody owns what is written, whatever clients send', () => {
    const updated: KubeObject = { metadata: { name: 'a', managedFields: [{ manager: 'm' }] } };
    const tracked = noFieldOwnership.trackUpdate({ served, live: undefined, updated, manager: 'm' });
    expect(tracked).toEqual({ metadata: { name: 'a' } });
    expect(noFieldOwnership.trackUpdate({ served, live: tracked, updated: tracked, manager: 'm' })).toBe(tracked);
  });

  it('nothing can be applied', () => {
    expect(noFieldOwnership.apply).toBeUndefined();
  });
});
