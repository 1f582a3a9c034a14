import type { KubeObject } from '../api/object';
import { take } from '../api/steps/both-forms.fixture';
import type { Revision } from '../storage/store';
import { localEntry } from './local-entry';

const COUNT = 3_000;
const data = Object.fromEntries(Array.from({ length: COUNT }, (_, index) => [`key-${index}`, 'a']));
const object = (rest: object): KubeObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'a' },
  ...rest,
});

describe('an entry that stands in no store', () => {
  it('is printed a part at a time when it is large', () => {
    const [whole, inParts] = [
      localEntry('a', 1 as Revision, object({ data })),
      localEntry('a', 1 as Revision, object({ data })),
    ];
    const steps = inParts.prepareBody();
    if (steps === undefined) throw new Error('nothing to print');
    expect(take(steps).pauses).toBeGreaterThan(COUNT / 2);
    expect(inParts.prepareBody()).toBeUndefined();
    expect(inParts.body.equals(whole.body)).toBe(true);
  });

  it('is printed when it is asked for when it is small', () => {
    const entry = localEntry('a', 1 as Revision, object({}));
    expect(entry.prepareBody()).toBeUndefined();
    expect(entry.body.toString()).toBe('"metadata":{"name":"a"}}');
  });
});
