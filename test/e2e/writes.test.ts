import type { ObjectMeta } from '../../src/api/object';
import { clientOfOwnServer } from '../support/raw-client';

/** Writes to objects of real kinds that clients get right by accident only: absent ones, and ones that have changed. */

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
const ROLES = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles';

const client = clientOfOwnServer();

const json = (value: unknown): string => JSON.stringify(value);

describe('a deletion', () => {
  async function configMap(name: string): Promise<ObjectMeta> {
    return (await client.send('POST', CONFIG_MAPS, json({ metadata: { name } }))).body.metadata;
  }

  it.each(['uid=other', 'resourceVersion=1', 'uid=other&resourceVersion=1'])(
    'is refused when the query names another object: %s',
    async (query) => {
      await configMap('kept');
      expect(await client.send('DELETE', `${CONFIG_MAPS}/kept?${query}`)).toMatchObject({ status: 409 });
      expect(await client.send('GET', `${CONFIG_MAPS}/kept`)).toMatchObject({ status: 200 });
    },
  );

  it('happens when the query names the object as it stands', async () => {
    const { uid, resourceVersion } = await configMap('named');
    const path = `${CONFIG_MAPS}/named?uid=${uid}&resourceVersion=${resourceVersion}`;
    expect(await client.send('DELETE', path)).toMatchObject({ status: 200 });
  });

  it('with a body does not look at the query', async () => {
    await configMap('bodily');
    const body = json({ kind: 'DeleteOptions', apiVersion: 'v1' });
    expect(await client.send('DELETE', `${CONFIG_MAPS}/bodily?uid=other`, body)).toMatchObject({ status: 200 });
  });

  it('of a collection is refused when the query names another object', async () => {
    await configMap('collected');
    const path = `${CONFIG_MAPS}?fieldSelector=metadata.name=collected`;
    expect(await client.send('DELETE', `${path}&uid=other`)).toMatchObject({ status: 409 });
    expect(await client.send('GET', `${CONFIG_MAPS}/collected`)).toMatchObject({ status: 200 });
    expect(await client.send('DELETE', path)).toMatchObject({ status: 200 });
  });
});

describe('a deletion that waits for the garbage collector', () => {
  const events = '/api/v1/namespaces/default/events';
  const services = '/api/v1/namespaces/default/services';
  const options = json({ propagationPolicy: 'Orphan' });

  it('is none of events, and a Status for services', async () => {
    await client.send('POST', events, json({ metadata: { name: 'e' }, involvedObject: { namespace: 'default' } }));
    expect(await client.send('DELETE', `${events}/e`, options)).toMatchObject({ status: 200 });
    expect(await client.send('GET', `${events}/e`)).toMatchObject({ status: 404 });
    await client.send('POST', services, json({ metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } }));
    expect(await client.send('DELETE', `${services}/s`, options)).toMatchObject({ body: { kind: 'Status' } });
    expect((await client.send('GET', `${services}/s`)).body.metadata.finalizers).toEqual(['orphan']);
  });
});

describe('what is not there', () => {
  it.each(['merge-patch', 'strategic-merge-patch', 'json-patch'])(
    'cannot be changed by a %s, even of a kind that a PUT creates',
    async (format) => {
      const body = json(format === 'json-patch' ? [{ op: 'add', path: '/metadata/labels', value: {} }] : {});
      for (const path of [LEASES, ROLES, '/api/v1/namespaces/default/limitranges']) {
        const patch = client.send('PATCH', `${path}/none`, body, `application/${format}+json`);
        expect(await patch).toMatchObject({ status: 404 });
      }
    },
  );

  it('is created by a PUT of a lease or runtime class, and not of a service', async () => {
    const put = async (path: string, object: object) =>
      (await client.send('PUT', `${path}/new`, json({ metadata: { name: 'new' }, ...object }))).status;
    expect(await put(LEASES, {})).toBe(201);
    expect(await put('/apis/node.k8s.io/v1/runtimeclasses', { handler: 'h' })).toBe(201);
    expect(await put('/api/v1/namespaces/default/services', { spec: { ports: [{ port: 80 }] } })).toBe(404);
  });
});

describe('a patch that names a version', () => {
  const AUTOSCALERS = '/apis/autoscaling/v2beta2/namespaces/default/horizontalpodautoscalers';
  const patch = (path: string, body: object) => client.send('PATCH', path, json(body), 'application/merge-patch+json');

  it('is read in that version, when the kind is known in it', async () => {
    const spec = { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd' } };
    await client.send('POST', AUTOSCALERS, json({ metadata: { name: 'a' }, spec }));
    const inV1 = { apiVersion: 'autoscaling/v1', spec: { targetCPUUtilizationPercentage: 7 } };
    const { status, body } = await patch(`${AUTOSCALERS}/a`, inV1);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        apiVersion: 'autoscaling/v2beta2',
        spec: { metrics: [{ resource: { target: { averageUtilization: 7 } } }] },
      },
    });
    expect(await patch(`${AUTOSCALERS}/a`, { apiVersion: 'autoscaling/v7' })).toMatchObject({ status: 422 });
    expect(await patch(`${AUTOSCALERS}/a`, { apiVersion: null })).toMatchObject({ status: 400 });
  });

  it('may name one that is not served any more', async () => {
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const deployments = '/apis/apps/v1/namespaces/default/deployments';
    const spec = { selector: { matchLabels: { a: 'b' } }, template };
    await client.send('POST', deployments, json({ metadata: { name: 'd' }, spec }));
    const body = { apiVersion: 'apps/v1beta1', spec: { replicas: 2 } };
    expect(await patch(`${deployments}/d`, body)).toMatchObject({
      status: 200,
      body: { apiVersion: 'apps/v1', spec: { replicas: 2 } },
    });
  });
});

describe('an apply', () => {
  const SECRETS = '/api/v1/namespaces/default/secrets';
  const apply = (name: string, object: object, metadata: object = {}) => {
    const config = { apiVersion: 'v1', kind: 'Secret', metadata: { name, ...metadata }, ...object };
    return client.send('PATCH', `${SECRETS}/${name}?fieldManager=m`, json(config), 'application/apply-patch+yaml');
  };

  it('with the uid of an object that is gone creates no other', async () => {
    expect(await apply('gone', {}, { uid: 'u' })).toMatchObject({
      status: 409,
      body: {
        message:
          'Operation cannot be fulfilled on secrets "gone": uid mismatch: the provided object specified uid u, and no existing object was found',
      },
    });
    expect(await client.send('GET', `${SECRETS}/gone`)).toMatchObject({ status: 404 });
  });

  it('that gives up the data of a secret leaves what came as text', async () => {
    await apply('mixed', { data: { p: 'cA==' }, stringData: { q: 'q' } });
    await apply('mixed', { data: { p: 'cA==' } });
    expect((await apply('mixed', {})).body).toMatchObject({ data: { q: 'cQ==' } });
    expect((await client.send('GET', `${SECRETS}/mixed`)).body).not.toHaveProperty('data.p');
  });
});

it('the name of a cluster is not kept of an object', async () => {
  const metadata = { name: 'clustered', clusterName: 'c' };
  expect((await client.send('POST', CONFIG_MAPS, json({ metadata }))).body.metadata).not.toHaveProperty('clusterName');
  const changed = { metadata: { ...metadata, labels: { a: 'b' } } };
  const { body } = await client.send('PUT', `${CONFIG_MAPS}/clustered`, json(changed));
  expect(body.metadata).toMatchObject({ labels: { a: 'b' } });
  expect(body.metadata).not.toHaveProperty('clusterName');
});
