import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApiServer, type ApiServer } from '../../src';
import { RawClient, type RawResponse } from '../support/raw-client';
import { until } from '../support/until';
import { patched, WebhookBackend } from '../support/webhook-backend';

/** What the audit log tells of webhooks. */

const MAPS = '/api/v1/namespaces/default/configmaps';
const MUTATION = 'mutation.webhook.admission.k8s.io/round_0_index_0';
const PATCH = 'patch.webhook.admission.k8s.io/round_0_index_0';

interface Line {
  readonly auditID: string;
  readonly verb: string;
  readonly level: string;
  readonly stage: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

let folder: string;
let server: ApiServer;
let client: RawClient;
let backend: WebhookBackend;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'audited-'));
  const rules = [{ level: 'Metadata', verbs: ['update'] }, { level: 'Request' }];
  const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', omitStages: ['RequestReceived'], rules };
  writeFileSync(join(folder, 'policy.yaml'), JSON.stringify(policy));
  const flags = { 'audit-policy-file': join(folder, 'policy.yaml'), 'audit-log-path': join(folder, 'audit.log') };
  [server, backend] = await Promise.all([startApiServer({ flags }), WebhookBackend.start()]);
  client = new RawClient(server);
  const clientConfig = backend.clientConfig('/hook', { allowed: true });
  const rule = { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] };
  const objectSelector = { matchLabels: { case: 'audited' } };
  const webhook = { name: 'm.example.io', clientConfig, rules: [rule], objectSelector };
  await send('POST', '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', {
    metadata: { name: 'audited' },
    webhooks: [{ ...webhook, sideEffects: 'None', admissionReviewVersions: ['v1'] }],
  });
  await until(
    () => send('POST', `${MAPS}?dryRun=All`, map('probe')),
    () => backend.callsTo('/hook').length > 0,
  );
}, 60_000);

afterAll(async () => {
  client.close();
  await server.stop();
  await backend[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const send = (method: string, path: string, body: object, type?: string) =>
  client.send(method, path, JSON.stringify(body), type);
const map = (name: string, data: object = { k: 'v' }) => ({
  metadata: { name, labels: { case: 'audited' } },
  data,
});

/** The annotations of a request. Its event may come after its response. */
async function annotationsOf(sent: Promise<RawResponse>): Promise<Readonly<Record<string, string>>> {
  const { auditId } = await sent;
  const read = () =>
    readFileSync(join(folder, 'audit.log'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line)
      .find(({ auditID }) => auditID === auditId);
  const event = await until(
    () => Promise.resolve(read()),
    (line) => line !== undefined,
  );
  return event?.annotations ?? {};
}

const mutated = (annotations: Readonly<Record<string, string>>): boolean =>
  (JSON.parse(annotations[MUTATION] ?? '{}') as { readonly mutated: boolean }).mutated;

it('tells of a webhook that says nothing, and of the patch of one that does', async () => {
  const silent = await annotationsOf(send('POST', MAPS, map('a')));
  expect(JSON.parse(silent[MUTATION] ?? '')).toEqual({
    configuration: 'audited',
    webhook: 'm.example.io',
    mutated: false,
  });
  expect(silent[PATCH]).toBeUndefined();
  const patch = [{ op: 'add', path: '/data/more', value: 'x' }];
  backend.behave('/hook', patched(...patch));
  const changed = await annotationsOf(send('POST', MAPS, map('b')));
  expect(mutated(changed)).toBe(true);
  expect(JSON.parse(changed[PATCH] ?? '')).toEqual({
    configuration: 'audited',
    webhook: 'm.example.io',
    patch,
    patchType: 'JSONPatch',
  });
});

it('tells no patch at the level Metadata', async () => {
  backend.behave('/hook', patched({ op: 'add', path: '/data/more', value: 'y' }));
  const annotations = await annotationsOf(send('PUT', `${MAPS}/b`, map('b', { l: 'w' })));
  expect(mutated(annotations)).toBe(true);
  expect(annotations[PATCH]).toBeUndefined();
});

it('takes a patch that changes nothing for a change where the write has set owners, as kube-apiserver does', async () => {
  backend.behave('/hook', patched({ op: 'add', path: '/data/k', value: 'v' }));
  expect(mutated(await annotationsOf(send('POST', MAPS, map('c'))))).toBe(true);
  const apply = (data: object) =>
    send(
      'PATCH',
      `${MAPS}/d?fieldManager=me&force=true`,
      { apiVersion: 'v1', kind: 'ConfigMap', ...map('d', data) },
      APPLY,
    );
  expect(mutated(await annotationsOf(apply({ k: 'v' })))).toBe(true);
  expect(mutated(await annotationsOf(apply({ k: 'v' })))).toBe(false);
  expect(mutated(await annotationsOf(apply({ k: 'v', l: 'w' })))).toBe(true);
});

const APPLY = 'application/apply-patch+yaml';
