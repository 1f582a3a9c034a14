import { clientOfOwnServer } from '../support/raw-client';
import { until } from '../support/until';

/** Selectable fields of custom resources, from the definition to lists and watches. */

const client = clientOfOwnServer();
const SHIRTS = '/apis/example.io/v1/shirts';
const post = (path: string, object: object) => client.send('POST', path, JSON.stringify(object));

const definition = (...paths: readonly string[]) => ({
  metadata: { name: 'shirts.example.io' },
  spec: {
    group: 'example.io',
    scope: 'Cluster',
    names: { plural: 'shirts', kind: 'Shirt' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { color: { type: 'string' }, size: { type: 'integer' } } },
            },
          },
        },
        selectableFields: paths.map((jsonPath) => ({ jsonPath })),
      },
    ],
  },
});

const shirt = (name: string, color: string, size: number) => ({
  apiVersion: 'example.io/v1',
  kind: 'Shirt',
  metadata: { name },
  spec: { color, size },
});

async function named(selector: string): Promise<readonly string[]> {
  const { body } = await client.send('GET', `${SHIRTS}?fieldSelector=${encodeURIComponent(selector)}`);
  return (body as unknown as { items: readonly { metadata: { name: string } }[] }).items.map(
    ({ metadata }) => metadata.name,
  );
}

it('select objects in lists and watches, and nothing else does', async () => {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  expect((await post(definitions, definition('.spec.colour'))).status).toBe(422);
  expect((await post(definitions, definition('.spec.color', '.spec.size'))).status).toBe(201);
  await until(
    () => client.send('GET', SHIRTS),
    ({ status }) => status === 200,
  );
  const blue = await post(SHIRTS, shirt('a', 'blue', 1));
  const { resourceVersion } = blue.body.metadata;
  await post(SHIRTS, shirt('b', 'red', 1));
  await post(SHIRTS, shirt('c', 'blue', 2));
  await expect(named('spec.color=blue')).resolves.toEqual(['a', 'c']);
  await expect(named('spec.size=1,spec.color!=blue')).resolves.toEqual(['b']);
  const unknown = await client.send('GET', `${SHIRTS}?fieldSelector=spec.price%3D1`);
  expect(unknown.status).toBe(400);
  expect(unknown.body.message).toContain('field label not supported: spec.price');
  // A shirt that is dyed leaves those who watch for its colour.
  const change = JSON.stringify({ spec: { color: 'red' } });
  await client.send('PATCH', `${SHIRTS}/c`, change, 'application/merge-patch+json');
  const watch = `${SHIRTS}?watch=1&timeoutSeconds=1&resourceVersion=${resourceVersion}&fieldSelector=spec.color%3Dblue`;
  const { text } = await client.sendText('GET', watch);
  const events = text.trim().split('\n');
  expect(events.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(['ADDED', 'DELETED']);
});
