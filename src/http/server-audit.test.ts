import { Registry } from 'prom-client';
import { CONFIG_MAPS, servedOverHttp, TABLE } from '../../test/support/served-over-http';
import { until } from '../../test/support/until';
import { Auditor } from '../audit/auditor';
import { EVENT_HEAD, printEvent } from '../audit/event';
import { AuditMetrics } from '../audit/metrics';
import { AuditPolicy } from '../audit/policy';

interface Shown {
  readonly stage: string;
  readonly level: string;
  readonly auditID: string;
  readonly [field: string]: unknown;
}

let events: Shown[] = [];
let keeps: boolean | Promise<boolean> = true;
const registry = new Registry();

const policy = new AuditPolicy({
  rules: [
    { level: 'None', users: ['unseen'] },
    { level: 'RequestResponse', users: ['full'] },
    { level: 'Request', users: ['half'] },
    { level: 'Metadata', users: ['quiet'], omitStages: ['RequestReceived'] },
    { level: 'Metadata' },
  ],
});
const auditor = new Auditor(
  policy,
  {
    process: (made) => {
      for (const event of made) events.push(JSON.parse(EVENT_HEAD + printEvent(event)) as Shown);
      return keeps;
    },
    close: async () => undefined,
  },
  new AuditMetrics(registry),
  true,
);
const { send, open } = servedOverHttp({ auditor });

const as = (user: string, headers: object = {}) => ({ headers: { authorization: `Bearer ${user}`, ...headers } });
const objectOf = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: 'secret' } });
const OTHERS = '/api/v1/namespaces/others/configmaps';
const stages = () => events.map(({ stage }) => stage);

/** The last event comes before the end of its answer. */
beforeEach(() => {
  events = [];
  keeps = true;
});

describe('the audit log of a request', () => {
  it.each([
    ['that sends a large object', 'POST', OTHERS, { 'content-type': 'application/json' }, 'large'],
    ['that patches it', 'PATCH', `${OTHERS}/large`, { 'content-type': 'application/merge-patch+json' }, 'large'],
  ])('%s has it, and is printed a part at a time', async (_, method, path, headers, name) => {
    const data = Object.fromEntries(Array.from({ length: 10_000 }, (__, index) => [`key-${index}`, `${method} 1`]));
    const body = { ...objectOf(name), data };
    const print = jest.spyOn(JSON, 'stringify');
    const sent = JSON.stringify(body);
    print.mockClear();
    const { status } = await send(method, path, { body: sent, ...as('half', headers) });
    // Only the end of the answer waits for it, and the client knows by the length that it has all.
    await until(
      async () => stages(),
      (seen) => seen.includes('ResponseComplete'),
    );
    const longest = Math.max(...print.mock.results.map(({ value }) => String(value).length));
    print.mockRestore();
    expect(status).toBe(method === 'POST' ? 201 : 200);
    expect(events.at(-1)).toMatchObject({ stage: 'ResponseComplete', requestObject: { data } });
    expect(longest).toBeLessThan(sent.length / 4);
  });

  it('has when it came and how it ended, under the id that the client is told', async () => {
    const { headers, status } = await send('POST', CONFIG_MAPS, { body: objectOf('one'), ...as('alice') });
    expect(status).toBe(201);
    expect(events.map(({ auditID }) => auditID)).toEqual([headers['audit-id'], headers['audit-id']]);
    expect(events).toMatchObject([
      { stage: 'RequestReceived', verb: 'create', user: { username: 'alice' }, objectRef: { resource: 'configmaps' } },
      { stage: 'ResponseComplete', objectRef: { name: 'one' }, responseStatus: { metadata: {}, code: 201 } },
    ]);
    expect(events[0]).not.toHaveProperty('annotations');
    expect(events[1]!.annotations).toEqual({
      'authorization.k8s.io/decision': 'allow',
      'authorization.k8s.io/reason': '',
    });
    expect(JSON.stringify(events)).not.toContain('secret');
  });

  it('has the id and the addresses that came with it', async () => {
    const { headers } = await send(
      'GET',
      CONFIG_MAPS,
      as('alice', {
        'audit-id': 'mine',
        'x-forwarded-for': '203.0.113.7, junk, 198.51.100.2',
        'x-real-ip': '192.0.2.55',
      }),
    );
    expect(headers['audit-id']).toBe('mine');
    expect(events[0]!.sourceIPs).toEqual(['203.0.113.7', '198.51.100.2', '192.0.2.55', '127.0.0.1']);
  });

  it('has the bodies that the policy asks for', async () => {
    await send('PUT', `${CONFIG_MAPS}/one`, { body: objectOf('one'), ...as('half') });
    expect(events[1]!.requestObject).toMatchObject({ kind: 'ConfigMap', data: { a: 'secret' } });
    expect(events[1]).not.toHaveProperty('responseObject');
    events = [];
    await send('GET', `${CONFIG_MAPS}/one`, as('full'));
    expect(events[1]!.responseObject).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', data: { a: 'secret' } });
    events = [];
    await send('GET', CONFIG_MAPS, as('full', { accept: 'application/vnd.kubernetes.protobuf' }));
    expect(events[1]!.responseObject).toMatchObject({ kind: 'ConfigMapList', items: [{ data: { a: 'secret' } }] });
    events = [];
    await send('GET', CONFIG_MAPS, as('full', TABLE));
    expect(events[1]!.responseObject).toMatchObject({ kind: 'Table', rows: [{}] });
  });

  it('has what went wrong', async () => {
    await send('GET', `${CONFIG_MAPS}/none`, as('full'));
    expect(events[1]).toMatchObject({
      responseStatus: { metadata: {}, status: 'Failure', reason: 'NotFound', code: 404 },
      responseObject: { kind: 'Status', message: 'configmaps "none" not found' },
    });
    events = [];
    await send('GET', CONFIG_MAPS, as('nobody'));
    expect(events[1]).toMatchObject({
      responseStatus: { reason: 'Forbidden', code: 403 },
      annotations: { 'authorization.k8s.io/decision': 'forbid' },
    });
  });

  it('has one event, without a user, where nobody could be authenticated', async () => {
    await send('GET', CONFIG_MAPS, as('wrong'));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(events).toMatchObject([{ stage: 'ResponseStarted', user: {}, responseStatus: { code: 401 } }]);
  });

  it('tells a failure that nobody foresaw from others', async () => {
    await send('GET', '/broken', as('alice'));
    expect(stages()).toEqual(['RequestReceived', 'Panic']);
  });

  it('tells that a watch has started before it ends', async () => {
    const watch = await open('GET', `${CONFIG_MAPS}?watch=1&timeoutSeconds=1`, as('alice'));
    expect(stages()).toEqual(['RequestReceived', 'ResponseStarted']);
    for await (const _chunk of watch);
    expect(stages()).toEqual(['RequestReceived', 'ResponseStarted', 'ResponseComplete']);
  });

  it('leaves out what the policy leaves out', async () => {
    const { headers } = await send('GET', CONFIG_MAPS, as('unseen'));
    expect(headers).not.toHaveProperty('audit-id');
    expect(events).toEqual([]);
    await send('GET', CONFIG_MAPS, as('quiet'));
    expect(stages()).toEqual(['ResponseComplete']);
  });

  it('never shows the token of who asks', async () => {
    await send('GET', CONFIG_MAPS, as('alice', { authorization: 'Bearer very-secret' }));
    expect(JSON.stringify(events.map(({ user: _user, ...rest }) => rest))).not.toContain('very-secret');
  });

  it('holds the request up, and refuses it, when it cannot be kept and must be', async () => {
    let tell: (kept: boolean) => void = () => undefined;
    keeps = new Promise((resolve) => (tell = resolve));
    const response = send('GET', CONFIG_MAPS, as('alice'));
    while (events.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(stages()).toEqual(['RequestReceived']);
    tell(false);
    expect(await response).toMatchObject({
      status: 500,
      text: `Internal Server Error: "${CONFIG_MAPS}": failed to store audit event\n`,
    });
    expect(await registry.metrics()).toContain('apiserver_audit_requests_rejected_total 1');
  });

  it('is counted by level', async () => {
    const text = await registry.metrics();
    expect(text).toMatch(/apiserver_audit_level_total\{level="None"\} 1/);
    expect(text).toMatch(/apiserver_audit_level_total\{level="RequestResponse"\} [1-9]/);
    expect(text).toMatch(/apiserver_audit_event_total [1-9]/);
  });
});
