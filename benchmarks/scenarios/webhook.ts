import type { Context, Scenario } from './scenario';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type * as Authority from '../../src/pki/authority';
import { load as loadBuilt } from '../built';
import { WRITE_NAMESPACE, collectionPath, configMap } from './objects';
import { JSON_BODY } from './setup';
import { measureWrite } from './write';

const PATH = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
const CLIENTS = 16;
/** Webhooks that are not concerned. */
const OTHERS = 100;
/** How long a server may take to heed a configuration. */
const PATIENCE_MS = 10_000;

const scenario = (id: string, title: string, run: Scenario['run']): Scenario => ({
  id,
  title: `${title}, ${CLIENTS} clients`,
  unit: 'req/s',
  run,
});

interface ClientConfig {
  readonly url: string;
  readonly caBundle?: string;
}

function configuration(name: string, clientConfig: ClientConfig, resources: readonly string[]): string {
  const rules = [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources }];
  const hook = { name: 'bench.example.io', clientConfig, rules, sideEffects: 'None', admissionReviewVersions: ['v1'] };
  const typed = { kind: 'ValidatingWebhookConfiguration', apiVersion: 'admissionregistration.k8s.io/v1' };
  return JSON.stringify({ ...typed, metadata: { name }, webhooks: [hook] });
}

async function register(
  { load, server }: Context,
  name: string,
  clientConfig: ClientConfig,
  resources: readonly string[],
): Promise<void> {
  const body = configuration(name, clientConfig, resources);
  const { status } = await load.once(server.admin, { method: 'POST', path: PATH, headers: JSON_BODY, body });
  if (status !== 201) throw new Error(`the configuration ${name} was refused with ${status}`);
}

async function creates(context: Context, name: string) {
  const { load, server, options } = context;
  const limits = { maxRequests: options.maxWrites, maxMs: options.seconds * 1000 };
  try {
    return await measureWrite(context, { verb: 'CREATE', name: `${name}-{n}`, clients: CLIENTS, ...limits });
  } finally {
    await load.once(server.admin, { method: 'DELETE', path: PATH });
    await load.once(server.admin, { method: 'DELETE', path: collectionPath(WRITE_NAMESPACE) });
  }
}

/** Every write asks one backend, over connections that are kept. */
async function throughWebhook(context: Context) {
  const { createAuthority, issueKeyPair } = loadBuilt<typeof Authority>('pki/authority');
  const authority = createAuthority('bench-webhook', new Date());
  const leaf = {
    subject: { commonName: 'webhook', organizations: [] },
    altNames: ['localhost'],
    usages: ['server auth'],
  } as const;
  const { certificatePem: cert, privateKeyPem: key } = issueKeyPair(authority, leaf, new Date());
  const backend = fork(join(__dirname, '..', 'load', 'webhook-backend.ts'));
  try {
    backend.send({ cert, key });
    const [{ port }] = (await once(backend, 'message')) as [{ readonly port: number }];
    const caBundle = Buffer.from(authority.certificatePem).toString('base64');
    await register(context, 'bench', { url: `https://localhost:${port}/`, caBundle }, ['configmaps']);
    await untilCalled(context, backend);
    return await creates(context, 'webhook');
  } finally {
    backend.disconnect();
  }
}

async function untilCalled({ load, server, options }: Context, backend: ChildProcess): Promise<void> {
  const called = once(backend, 'message').then(() => true);
  const path = `${collectionPath(WRITE_NAMESPACE)}?dryRun=All`;
  const body = configMap(WRITE_NAMESPACE, 'probe', options.bytes);
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end;) {
    await load.once(server.admin, { method: 'POST', path, headers: JSON_BODY, body });
    if (await Promise.race([called, new Promise((resolve) => setTimeout(() => resolve(false), 50))])) return;
  }
  throw new Error('the webhook was not called');
}

/** What webhooks cost those whom they do not concern. */
async function besideWebhooks(context: Context) {
  for (let n = 0; n < OTHERS; n++) await register(context, `other-${n}`, { url: 'https://127.0.0.1:1/' }, ['secrets']);
  return creates(context, 'beside');
}

export const scenarios: readonly Scenario[] = [
  scenario('webhook-beside', `CREATE beside ${OTHERS} webhooks for other resources`, besideWebhooks),
  scenario('webhook-create', 'CREATE through one validating webhook', throughWebhook),
];
