import { ConversionNeeded } from '../../api/conversion-needed';
import type { KubeObject } from '../../api/object';
import type { Steps } from '../../api/parts';
import { take } from '../../api/steps/both-forms.fixture';
import type { EndpointDependencies, ResourceRequest } from './endpoint';
import { trackOwners } from './track-owners';

const object = { metadata: { name: 'a' } };

test('the owners of a large object that a webhook converts are found in steps, from the beginning once it is converted', async () => {
  let begun = 0;
  let isConverted = false;
  function* trackUpdateInSteps(): Steps<KubeObject> {
    begun += 1;
    yield;
    if (!isConverted) {
      throw new ConversionNeeded(() => {
        isConverted = true;
        return Promise.resolve(() => (isConverted = false));
      });
    }
    return object;
  }
  const context = {
    givesWay: true,
    takeSteps: (steps: Steps<KubeObject>) => Promise.resolve().then(() => take(steps).result),
  };
  const request = { context, served: { version: { remote: {} } } } as unknown as ResourceRequest;
  const fieldOwnership = { trackUpdateInSteps };
  expect(
    await trackOwners(request, { fieldOwnership } as unknown as EndpointDependencies, undefined, object, 'me'),
  ).toBe(object);
  expect({ begun, isConverted }).toEqual({ begun: 2, isConverted: false });
});
