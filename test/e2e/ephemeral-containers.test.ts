import { clientOfOwnServer } from '../support/raw-client';

/** Containers that are added to running pods, by clients of today and by those before 1.22. */

const PODS = '/api/v1/namespaces/default/pods';
const json = (value: unknown): string => JSON.stringify(value);

const client = clientOfOwnServer();

interface Pod {
  readonly metadata: { readonly resourceVersion: string };
  readonly spec: { readonly ephemeralContainers?: readonly { readonly name: string }[] };
}

async function makePod(name: string): Promise<Pod> {
  const spec = { automountServiceAccountToken: false, containers: [{ name: 'main', image: 'i:1' }] };
  await client.send('POST', '/api/v1/namespaces/default/serviceaccounts', json({ metadata: { name: 'default' } }));
  const { status, body } = await client.send('POST', PODS, json({ metadata: { name }, spec }));
  expect(status).toBe(201);
  return body as unknown as Pod;
}

function add(pod: string, metadata: object, ...names: readonly string[]) {
  const ephemeralContainers = names.map((name) => ({ name, image: 'busybox' }));
  const list = { kind: 'EphemeralContainers', apiVersion: 'v1', metadata, ephemeralContainers };
  return client.send('PUT', `${PODS}/${pod}/ephemeralcontainers`, json(list));
}

describe('a list of ephemeral containers', () => {
  it('adds what is new in it, with its defaults', async () => {
    await makePod('listed');
    expect(await add('listed', {}, 'first')).toMatchObject({ status: 200 });
    expect(await add('listed', { name: 'listed' }, 'second')).toMatchObject({ status: 200 });
    expect((await client.send('GET', `${PODS}/listed`)).body).toMatchObject({
      spec: {
        containers: [{ name: 'main' }],
        ephemeralContainers: [
          { name: 'first', imagePullPolicy: 'Always' },
          { name: 'second', terminationMessagePolicy: 'File' },
        ],
      },
    });
  });

  it('does not change those that are there', async () => {
    await makePod('settled');
    await add('settled', {}, 'first');
    const changed = {
      kind: 'EphemeralContainers',
      apiVersion: 'v1',
      metadata: {},
      ephemeralContainers: [{ name: 'first', image: 'other' }],
    };
    expect(await client.send('PUT', `${PODS}/settled/ephemeralcontainers`, json(changed))).toMatchObject({
      status: 422,
    });
  });

  it('is refused for another pod, another state of the pod and one that is not there', async () => {
    const { metadata } = await makePod('exact');
    await add('exact', {}, 'first');
    expect(await add('exact', { name: 'other' }, 'second')).toMatchObject({ status: 400 });
    expect(await add('exact', { resourceVersion: metadata.resourceVersion }, 'second')).toMatchObject({ status: 409 });
    expect(await add('exact', { uid: 'other' }, 'second')).toMatchObject({ status: 409 });
    expect(await add('absent', {}, 'second')).toMatchObject({ status: 404 });
  });
});

it('takes the pod itself, as ever', async () => {
  const pod = await makePod('whole');
  const spec = { ...pod.spec, ephemeralContainers: [{ name: 'first', image: 'busybox' }] };
  const path = `${PODS}/whole/ephemeralcontainers`;
  expect(await client.send('PUT', path, json({ ...pod, spec }))).toMatchObject({
    status: 200,
    body: { kind: 'Pod', spec: { ephemeralContainers: [{ name: 'first', imagePullPolicy: 'Always' }] } },
  });
  expect(await client.send('GET', path)).toMatchObject({ body: { kind: 'Pod' } });
});
