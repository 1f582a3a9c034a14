import { clientOfOwnServer } from '../support/raw-client';

/** Requests that are odd in one way or another, answered as kube-apiserver 1.20.2 answers them. */

const JSON_TYPE = 'application/json';
const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
const AS_METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const CORE = '/api/v1/namespaces/default';

const client = clientOfOwnServer();

const post = (path: string, object: object) => client.send('POST', path, JSON.stringify(object));
const put = (path: string, object: object) => client.send('PUT', path, JSON.stringify(object));

describe('a service', () => {
  const services = `${CORE}/services`;
  const spec = { ports: [{ port: 80 }] };
  beforeAll(() => post(services, { metadata: { name: 's' }, spec }));

  it('that is put with an old version and without its address hears of the address', async () => {
    const { status, body } = await put(`${services}/s`, { metadata: { name: 's', resourceVersion: '1' }, spec });
    expect(status).toBe(422);
    expect(body.message).toContain('primary clusterIP can not be unset');
  });

  it('that is put with another uid hears of the field', async () => {
    const { status, body } = await put(`${services}/s`, { metadata: { name: 's', uid: 'other' }, spec });
    expect(status).toBe(422);
    expect(body.message).toContain('metadata.uid: Invalid value: "other": field is immutable');
  });
});

describe('a patch', () => {
  beforeAll(() => post(`${CORE}/configmaps`, { metadata: { name: 'c' } }));

  it('without a type and a body is 406', async () => {
    expect((await client.sendText('PATCH', `${CORE}/configmaps/c`, undefined, '')).status).toBe(415);
    expect((await client.sendText('PATCH', `${CORE}/configmaps/c`, undefined, null)).status).toBe(406);
  });

  it('of several types is 415 and told which there are', async () => {
    const { status, body } = await client.send('PATCH', `${CORE}/configmaps/c`, '{}', `${MERGE},${JSON_TYPE}`);
    expect(status).toBe(415);
    expect(body.message).toContain('accepted media types include');
  });

  it('of blanks has no word for it but its format', async () => {
    const said = async (type: string) => (await client.send('PATCH', `${CORE}/configmaps/c`, '  ', type)).body.message;
    expect([await said(STRATEGIC), await said(MERGE)]).toEqual(['EOF', 'unexpected end of JSON input']);
  });
});

it('bytes may be a list of numbers, and none where there is null', async () => {
  const { body } = await post(`${CORE}/secrets`, { metadata: { name: 's' }, data: { list: [65, 66], none: null } });
  expect(body['data']).toEqual({ list: 'QUI=', none: '' });
});

it('managed fields of an unknown type are ignored', async () => {
  const managedFields = [{ manager: 'x', operation: 'Update', apiVersion: 'v1', fieldsType: 'Other' }];
  expect((await post(`${CORE}/configmaps`, { metadata: { name: 'm', managedFields } })).status).toBe(201);
});

it('the eviction of a pod that is not there is 404, whatever its options', async () => {
  const eviction = { metadata: { name: 'none' }, deleteOptions: { dryRun: ['Bogus'] } };
  expect((await post(`${CORE}/pods/none/eviction`, eviction)).status).toBe(404);
});

it('finalizers need a domain where the kind has rules for its metadata', async () => {
  const metadata = { name: 'f', finalizers: ['bad'] };
  expect((await post(`${CORE}/configmaps`, { metadata })).status).toBe(422);
  expect((await post('/apis/coordination.k8s.io/v1/namespaces/default/leases', { metadata })).status).toBe(201);
});

describe('what is wrong with a change of metadata', () => {
  const causesOf = async (path: string): Promise<number> => {
    const { body } = await client.send('PATCH', path, '{"metadata":{"uid":"other"}}', MERGE);
    return (body as unknown as { details: { causes: readonly unknown[] } }).details.causes.length;
  };

  it('is told twice by most kinds', async () => {
    expect(await causesOf(`${CORE}/configmaps/c`)).toBe(2);
  });

  it('is told once by kinds whose rules do not look at it again', async () => {
    await post(`${CORE}/limitranges`, { metadata: { name: 'l' }, spec: { limits: [] } });
    expect(await causesOf(`${CORE}/limitranges/l`)).toBe(1);
  });
});

describe('a workload', () => {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };

  it('shows the metadata of its scale alone', async () => {
    const controllers = `${CORE}/replicationcontrollers`;
    const spec = {
      selector: { a: 'b' },
      template: { metadata: { labels: { a: 'b' } }, spec: { ...template.spec, restartPolicy: 'Always' } },
    };
    await post(controllers, { metadata: { name: 'r' }, spec });
    const scale = `${controllers}/r/scale`;
    const one = await client.sendText('GET', scale, undefined, JSON_TYPE, AS_METADATA);
    expect(JSON.parse(one.text)).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'r' } });
    const list = await client.sendText(
      'GET',
      scale,
      undefined,
      JSON_TYPE,
      AS_METADATA.replace('Metadata', 'MetadataList'),
    );
    expect(list.status).toBe(406);
    expect(list.text).toContain('the requested object is not a list (*autoscaling.Scale)');
  });

  it('that is a job keeps the labels of its template when its status is put', async () => {
    const jobs = '/apis/batch/v1/namespaces/default/jobs';
    const job = { metadata: { name: 'j' }, spec: { template } };
    const created = await post(jobs, job);
    const { body } = await put(`${jobs}/j/status`, job);
    expect(created.body.metadata.labels).toHaveProperty('job-name', 'j');
    expect(body.metadata.labels).toEqual(created.body.metadata.labels);
  });
});

it('a wildcard without paths shows null for them', async () => {
  const ingresses = '/apis/networking.k8s.io/v1beta1/namespaces/default/ingresses';
  const rules = [{ host: '*.example.com', http: { paths: [] } }];
  const backend = { serviceName: 's', servicePort: 80 };
  const { body } = await post(ingresses, { metadata: { name: 'i' }, spec: { backend, rules } });
  expect(body['spec']).toMatchObject({ rules: [{ http: { paths: null } }] });
});
