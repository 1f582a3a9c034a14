import { clientOfOwnServer } from '../support/raw-client';

/** What a user may ask for and does not get yet is said, each time. */

const client = clientOfOwnServer();

const post = (path: string, object: object) => client.send('POST', path, JSON.stringify(object));

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

function definition(plural: string, schema: object, more: object = {}): object {
  return {
    metadata: { name: `${plural}.example.io` },
    spec: {
      group: 'example.io',
      scope: 'Cluster',
      names: { plural, kind: plural },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      ...more,
    },
  };
}

it('a definition that asks for nothing of the kind is answered without a warning', async () => {
  const { status, warning } = await post(DEFINITIONS, definition('plain', { type: 'object' }));
  expect({ status, warning }).toEqual({ status: 201, warning: '' });
});
