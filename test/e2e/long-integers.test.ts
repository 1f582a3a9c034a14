import { setTimeout } from 'node:timers/promises';
import { clientOfOwnServer } from '../support/raw-client';

/** Integers that JavaScript's numbers would round. */

const LONG = '1234567890123456789';
const OTHER = '9223372036854775807';

const client = clientOfOwnServer();

const PODS = '/api/v1/namespaces/default/pods';

function pod(name: string): string {
  const spec = `{"automountServiceAccountToken":false,"containers":[{"name":"c","image":"i"}],"terminationGracePeriodSeconds":${LONG}}`;
  return `{"metadata":{"name":"${name}"},"spec":${spec}}`;
}

it('an int64 keeps all its digits, whatever it is written and read as', async () => {
  expect((await client.sendText('POST', PODS, pod('a'))).text).toContain(`"terminationGracePeriodSeconds":${LONG}`);
  const yaml = await client.sendText('GET', `${PODS}/a`, undefined, undefined, 'application/yaml');
  expect(yaml.text).toContain(`terminationGracePeriodSeconds: ${LONG}\n`);
  expect((await client.sendText('GET', `${PODS}/a?pretty=true`)).text).toContain(
    `"terminationGracePeriodSeconds": ${LONG}`,
  );
  expect((await client.sendText('GET', PODS)).text).toContain(`"terminationGracePeriodSeconds":${LONG}`);
});

it.each([
  ['application/merge-patch+json', `{"metadata":{"labels":{"a":"merge"}}}`],
  ['application/strategic-merge-patch+json', `{"metadata":{"labels":{"a":"strategic"}}}`],
  ['application/json-patch+json', `[{"op":"test","path":"/spec/terminationGracePeriodSeconds","value":${LONG}}]`],
])('a %s leaves it as it is', async (contentType, patch) => {
  const { status, text } = await client.sendText('PATCH', `${PODS}/a`, patch, contentType);
  expect(status).toBe(200);
  expect(text).toContain(`"terminationGracePeriodSeconds":${LONG}`);
});

it('its neighbours are other numbers', async () => {
  const patch = '[{"op":"test","path":"/spec/terminationGracePeriodSeconds","value":1234567890123456788}]';
  const { status } = await client.sendText('PATCH', `${PODS}/a`, patch, 'application/json-patch+json');
  expect(status).toBe(422);
});

it('one that is no int64 is refused', async () => {
  const { status, text } = await client.sendText('POST', PODS, pod('b').replace(LONG, '9223372036854775808'));
  expect(status).toBe(400);
  expect(text).toContain('of type int64');
});

it('a custom resource keeps integers and rounds floats', async () => {
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const definition = {
    metadata: { name: 'numbers.example.io' },
    spec: {
      group: 'example.io',
      scope: 'Cluster',
      names: { plural: 'numbers', kind: 'Number' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
  await client.sendText('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', JSON.stringify(definition));
  const numbers = '/apis/example.io/v1/numbers';
  while ((await client.sendText('GET', numbers)).status !== 200) await setTimeout(20);
  const body = `{"apiVersion":"example.io/v1","kind":"Number","metadata":{"name":"a"},"spec":{"a":[${LONG}],"b":1e20}}`;
  const created = await client.sendText('POST', numbers, body);
  expect(created.text).toContain(`"spec":{"a":[${LONG}],"b":100000000000000000000}`);
  const patch = `{"spec":{"c":${OTHER}}}`;
  const patched = await client.sendText('PATCH', `${numbers}/a`, patch, 'application/merge-patch+json');
  expect(patched.text).toContain(`"spec":{"a":[${LONG}],"b":100000000000000000000,"c":${OTHER}}`);
});
