import { clientOfOwnServer } from '../support/raw-client';
import { until } from '../support/until';

/** Rules in CEL of custom resources, from the definition to the refusal. */

const client = clientOfOwnServer();
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

const MERGE = 'application/merge-patch+json';

const post = (path: string, object: object) => client.send('POST', path, JSON.stringify(object));

function definition(plural: string, spec: object): object {
  const openAPIV3Schema = { type: 'object', properties: { spec } };
  return {
    metadata: { name: `${plural}.example.io` },
    spec: {
      group: 'example.io',
      scope: 'Cluster',
      names: { plural, kind: plural },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

it('an object that breaks a rule is refused, and so is a change of what may not change', async () => {
  const spec = {
    type: 'object',
    properties: { min: { type: 'integer' }, max: { type: 'integer' }, name: { type: 'string', maxLength: 20 } },
    'x-kubernetes-validations': [
      { rule: 'self.min <= self.max', message: 'min may not exceed max' },
      { rule: 'self.name == oldSelf.name', message: 'name is immutable', fieldPath: '.name' },
    ],
  };
  expect((await post(DEFINITIONS, definition('ranges', spec))).status).toBe(201);
  const path = '/apis/example.io/v1/ranges';
  const range = (more: object) => ({
    apiVersion: 'example.io/v1',
    kind: 'ranges',
    metadata: { name: 'a' },
    spec: more,
  });
  await until(
    () => client.send('GET', path),
    ({ status }) => status === 200,
  );
  const refused = await post(path, range({ min: 3, max: 2, name: 'x' }));
  expect(refused.status).toBe(422);
  expect(refused.body.message).toBe(
    'ranges.example.io "a" is invalid: spec: Invalid value: "object": min may not exceed max',
  );
  expect((await post(path, range({ min: 1, max: 2, name: 'x' }))).status).toBe(201);
  const changed = await client.send('PATCH', `${path}/a`, JSON.stringify({ spec: { name: 'y' } }), MERGE);
  expect(changed.status).toBe(422);
  expect(changed.body.message).toContain('spec.name: Invalid value: "object": name is immutable');
});

it('what a stricter definition finds wrong does not stand in the way of other changes', async () => {
  const spec = (pattern: string, rule: string) => ({
    type: 'object',
    properties: {
      code: { type: 'string', pattern },
      note: { type: 'string' },
      limits: {
        type: 'object',
        properties: { max: { type: 'integer' } },
        'x-kubernetes-validations': [{ rule, message: 'max is too high' }],
      },
    },
  });
  expect((await post(DEFINITIONS, definition('stricters', spec('.', 'self.max < 100')))).status).toBe(201);
  const path = '/apis/example.io/v1/stricters';
  const one = { apiVersion: 'example.io/v1', kind: 'stricters', metadata: { name: 'a' } };
  await until(
    () => client.send('GET', path),
    ({ status }) => status === 200,
  );
  expect((await post(path, { ...one, spec: { code: 'x', limits: { max: 50 } } })).status).toBe(201);
  const stricter = definition('stricters', spec('^[A-Z]+$', 'self.max < 10'));
  await client.send('PATCH', `${DEFINITIONS}/stricters.example.io`, JSON.stringify(stricter), MERGE);
  const change = (change: object) => client.send('PATCH', `${path}/a`, JSON.stringify({ spec: change }), MERGE);
  // One that came before the stricter definition was in force would be no change any more.
  let tries = 0;
  await until(
    () => change({ code: `y${tries++}` }),
    ({ status }) => status === 422,
  );
  const noted = await change({ note: 'b' });
  expect(noted.status).toBe(200);
  expect(noted.warning).toBe('299 - "spec.limits: Invalid value: \\"object\\": max is too high"');
  const { message } = (await change({ limits: { max: 40 } })).body;
  expect(message).toBe('stricters.example.io "a" is invalid: spec.limits: Invalid value: "object": max is too high');
  expect((await change({ code: 'Y', limits: { max: 4 } })).status).toBe(200);
});

it('a definition whose rules cannot be compiled, or may cost too much, is refused', async () => {
  const spec = {
    type: 'object',
    properties: { names: { type: 'array', items: { type: 'string' } } },
    'x-kubernetes-validations': [
      { rule: 'self.missing > 0' },
      { rule: 'self.names.all(a, self.names.all(b, a == b))' },
    ],
  };
  const { status, body } = await post(DEFINITIONS, definition('broken', spec));
  expect(status).toBe(422);
  expect(body.message).toContain("ERROR: <input>:1:5: undefined field 'missing'\n | self.missing > 0\n | ....^");
  expect(body.message).toContain('estimated rule cost exceeds budget by factor of more than 100x');
});
