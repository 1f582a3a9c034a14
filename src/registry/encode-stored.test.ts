import { configMap } from '../api/kinds/core/config-map';
import type { KubeObject } from '../api/object';
import type { Steps } from '../api/parts';
import { take } from '../api/steps/both-forms.fixture';
import type { Resource } from './resource';
import { encodeStored, storageEncoder } from './stored-object';

const toStored = storageEncoder(configMap);
const data = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`key-${index}`, 'v']));
const large: KubeObject = { metadata: { name: 'a' }, data };
const small: KubeObject = { metadata: { name: 'a' }, data: { a: 'b' } };
const conversion = { toStorage: (object: KubeObject) => object };

/** What a request takes steps of. */
function pace() {
  let pauses = 0;
  const takeSteps = <Result>(steps: Steps<Result>): Promise<Result> => {
    const taken = take(steps);
    pauses += taken.pauses;
    return Promise.resolve(taken.result);
  };
  return { givesWay: true, takeSteps, pauses: () => pauses };
}

test.each([
  ['as it is', {}],
  ['once a webhook has converted it', { conversion }],
])('a large object of a request is printed in steps, %s', async (_, more) => {
  const taken = pace();
  const resource = { toStored, ...more } as unknown as Resource;
  const { value } = await encodeStored(resource, large, { pace: taken } as never);
  expect(value.equals(toStored(large).value)).toBe(true);
  expect(taken.pauses()).toBeGreaterThan(5_000);
});

test('a large object of the server itself is printed in turns, a small one at once', async () => {
  const resource = { toStored } as unknown as Resource;
  const printing = encodeStored(resource, large, {});
  expect(printing).toBeInstanceOf(Promise);
  expect((await printing).value.equals(toStored(large).value)).toBe(true);
  expect(encodeStored(resource, small, {})).toEqual(toStored(small));
});
