import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { admissionOutcome, podRequest } from '../../test/fixtures/admission-request';
import { admissionChain } from '../admission/chain';
import { createAuthority, issueKeyPair } from '../pki/authority';
import { silentLogger } from '../observability/logger';
import { imagePolicyPlugin } from './image-policy-backend';

const now = new Date();
const authority = createAuthority('test-authority', now);
const stranger = createAuthority('another-authority', now);
const certificateOf = (issuer: typeof authority) =>
  issueKeyPair(
    issuer,
    { subject: { commonName: 'backend', organizations: [] }, altNames: ['127.0.0.1'], usages: ['server auth'] },
    now,
  );
const REQUEST_TIMEOUT_MS = 600;

const say =
  (body: unknown, status = 200) =>
  (response: ServerResponse) =>
    void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
const review = (status: object) => ({ kind: 'ImageReview', apiVersion: 'imagepolicy.k8s.io/v1alpha1', status });

describe('a backend of ImagePolicyWebhook on the network', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sternpost-images-'));
  const servers: Server[] = [];

  afterAll(() => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
    rmSync(folder, { recursive: true });
  });

  /** Asks about a pod; gives what came of it, and after how many milliseconds. */
  async function ask(
    answer: (response: ServerResponse) => void,
    { defaultAllow, issuer = authority }: { readonly defaultAllow: boolean; readonly issuer?: typeof authority },
  ): Promise<readonly [outcome: string, tookMs: number]> {
    const { certificatePem: cert, privateKeyPem: key } = certificateOf(issuer);
    const server = createServer({ cert, key }, (request, response) => {
      request.resume();
      answer(response);
    });
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const kubeconfig = join(folder, 'kubeconfig');
    const authorityData = Buffer.from(authority.certificatePem).toString('base64');
    const cluster = {
      server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
      'certificate-authority-data': authorityData,
    };
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'c', cluster }],
        users: [{ name: 'u', user: {} }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'x',
      }),
    );
    const configuration = { imagePolicy: { kubeConfigFile: kubeconfig, defaultAllow, retryBackoff: 50 } };
    const plugin = imagePolicyPlugin(configuration, join(folder, 'admission.yaml'), REQUEST_TIMEOUT_MS, silentLogger);
    const started = performance.now();
    const outcome = await admissionOutcome(() => admissionChain([plugin]).validate(podRequest()));
    return [outcome === 'admitted' ? outcome : 'refused', performance.now() - started];
  }

  it('decides when it works', async () => {
    expect((await ask(say(review({ allowed: true })), { defaultAllow: false }))[0]).toBe('admitted');
    expect((await ask(say(review({ allowed: false, reason: 'old' })), { defaultAllow: true }))[0]).toBe('refused');
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['answers too late', () => undefined],
    ['hangs up', (response) => void response.destroy()],
    ['fails', say({}, 500)],
    ['says what is no review', say({ kind: 'Pod', status: { allowed: true } })],
    ['says what is no JSON', (response) => void response.writeHead(200).end('yes')],
    ['never stops talking', (response) => void response.writeHead(200).write('{"kind":')],
  ])('that %s leaves the decision to the configuration, within the time of the request', async (_, answer) => {
    const [closed, tookMs] = await ask(answer, { defaultAllow: false });
    expect(closed).toBe('refused');
    // Half of the request's time is the backend's; the rest of this bound is for a slow machine.
    expect(tookMs).toBeLessThan(REQUEST_TIMEOUT_MS / 2 + 2_000);
    expect((await ask(answer, { defaultAllow: true }))[0]).toBe('admitted');
  });

  it('is not believed with a certificate of somebody else', async () => {
    const lie = say(review({ allowed: true }));
    expect((await ask(lie, { defaultAllow: false, issuer: stranger }))[0]).toBe('refused');
  });
});
