import { X509Certificate } from 'node:crypto';
import { startApiServer, type ApiServer } from '../../src';
import type { KubeObject } from '../../src/api/object';
import { ApiClient } from '../../src/client/api-client';
import { adminClient, adminCredentials } from '../support/admin-client';
import { makeCertificateRequest, type KeyType, type MadeRequest } from '../support/certificate-request';
import { until } from '../support/until';

/** Certificates that are asked for, approved and signed, and what a kubelet does with them. */

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const SIGNER = 'kubernetes.io/kube-apiserver-client';
const KUBELET_SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet';
const SERVING_SIGNER = 'kubernetes.io/kubelet-serving';
const CLIENT_USAGES = ['digital signature', 'client auth'];

interface SigningRequest extends KubeObject {
  readonly status?: {
    readonly certificate?: string;
    readonly conditions?: readonly { readonly type: string; readonly reason: string; readonly message: string }[];
  };
}

let server: ApiServer;
let client: ApiClient;

beforeAll(async () => {
  server = await startApiServer();
  client = adminClient(server);
}, 30_000);

afterAll(async () => {
  client.close();
  await server.stop();
});

function ask(
  who: ApiClient,
  name: string,
  { request }: MadeRequest,
  spec: { readonly signerName: string; readonly usages: readonly string[]; readonly expirationSeconds?: number },
): Promise<KubeObject> {
  return who.create(REQUESTS, { metadata: { name }, spec: { request, ...spec } });
}

async function approve(name: string): Promise<void> {
  const request = await client.get(`${REQUESTS}/${name}`);
  const condition = { type: 'Approved', status: 'True', reason: 'Tested', message: 'by a test' };
  await client.update(`${REQUESTS}/${name}/approval`, { ...request, status: { conditions: [condition] } });
}

async function certificateOf(name: string, who = client): Promise<string> {
  const { status } = await until(
    () => who.get<SigningRequest>(`${REQUESTS}/${name}`),
    (request) => (request.status?.certificate ?? '') !== '',
  );
  return Buffer.from(status?.certificate ?? '', 'base64').toString();
}

const failureOf = async (name: string): Promise<string | undefined> => {
  const { status } = await until(
    () => client.get<SigningRequest>(`${REQUESTS}/${name}`),
    (request) => request.status?.conditions?.some(({ type }) => type === 'Failed') === true,
  );
  return status?.conditions?.find(({ type }) => type === 'Failed')?.message;
};

describe('a request that has been approved', () => {
  it.each<KeyType>(['rsa', 'ec', 'ed25519'])('is signed for a key of type %s, which then is a user', async (type) => {
    const made = makeCertificateRequest({ commonName: `user-${type}`, organizations: ['testers'] }, type);
    await ask(client, `user-${type}`, made, { signerName: SIGNER, usages: CLIENT_USAGES });
    await approve(`user-${type}`);
    const clientCertificate = await certificateOf(`user-${type}`);
    const user = new ApiClient({
      url: server.url,
      certificateAuthority: adminCredentials(server).certificateAuthority,
      clientCertificate,
      clientKey: made.privateKeyPem,
      userAgent: 'test',
    });
    await expect(user.get('/api/v1/nodes')).rejects.toThrow(`User "user-${type}" cannot list resource "nodes"`);
    user.close();
  });

  it('holds for as long as was asked for, its names and usages are those of the request, and it signs nobody', async () => {
    const made = makeCertificateRequest({
      commonName: 'system:node:serving',
      organizations: ['system:nodes'],
      dnsNames: ['serving.example.com'],
    });
    const usages = ['digital signature', 'server auth'];
    await ask(client, 'serving', made, { signerName: SERVING_SIGNER, usages, expirationSeconds: 3600 });
    await approve('serving');
    const certificate = new X509Certificate(await certificateOf('serving'));
    expect(certificate.subjectAltName).toBe('DNS:serving.example.com');
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(certificate.ca).toBe(false);
    const minutes = (Date.parse(certificate.validTo) - Date.parse(certificate.validFrom)) / 60_000;
    expect(minutes).toBe(65);
    expect(certificate.verify(new X509Certificate(adminCredentials(server).certificateAuthority).publicKey)).toBe(true);
  });

  it.each([
    [SIGNER, {}, ['server auth'], 'invalid usage for client certificate: server auth'],
    [SIGNER, {}, ['digital signature'], 'missing required usage for client certificate: client auth'],
    [KUBELET_SIGNER, {}, CLIENT_USAGES, 'subject organization is not system:nodes'],
    [
      KUBELET_SIGNER,
      { organizations: ['system:nodes'] },
      CLIENT_USAGES,
      'subject common name does not begin with system:node:',
    ],
    [
      KUBELET_SIGNER,
      { organizations: ['system:nodes'], dnsNames: ['a'] },
      CLIENT_USAGES,
      'DNS subjectAltNames are not allowed',
    ],
    [
      KUBELET_SIGNER,
      { organizations: ['system:nodes'], commonName: 'system:node:x' },
      ['client auth'],
      'usages did not match [client auth digital signature key encipherment]',
    ],
    [SERVING_SIGNER, { organizations: ['system:nodes'] }, ['server auth'], 'DNS or IP subjectAltName is required'],
  ])('fails for %s with %o and %o', async (signerName, names, usages, message) => {
    const name = `failing-${Math.random().toString(36).slice(2)}`;
    await ask(client, name, makeCertificateRequest({ commonName: 'somebody', ...names }), { signerName, usages });
    await approve(name);
    await expect(failureOf(name)).resolves.toBe(message);
  });

  it('is left to others when its signer is none of ours', async () => {
    const made = makeCertificateRequest({ commonName: 'foreign' });
    await ask(client, 'foreign', made, { signerName: 'example.com/other', usages: CLIENT_USAGES });
    await approve('foreign');
    const own = makeCertificateRequest({ commonName: 'own' });
    await ask(client, 'own', own, { signerName: SIGNER, usages: CLIENT_USAGES });
    await approve('own');
    await certificateOf('own');
    const { status } = await client.get<SigningRequest>(`${REQUESTS}/foreign`);
    expect(status).toMatchObject({ conditions: [{ type: 'Approved' }] });
    expect(status?.certificate).toBeUndefined();
  });
});

describe('a lifetime that is asked for', () => {
  it('is at least ten minutes', async () => {
    const made = makeCertificateRequest({ commonName: 'short' });
    await expect(
      ask(client, 'short', made, { signerName: SIGNER, usages: CLIENT_USAGES, expirationSeconds: 599 }),
    ).rejects.toMatchObject({
      status: {
        code: 422,
        message: expect.stringContaining(
          'spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)',
        ),
      },
    });
  });
});

describe('a kubelet with a bootstrap token', () => {
  const NODE = 'bootstrapped';
  const ID = 'abcdef';
  const SECRET = '0123456789abcdef';
  const base64 = (text: string): string => Buffer.from(text).toString('base64');

  it('gets a certificate without anybody, and is a node with it', async () => {
    const { certificateAuthority } = adminCredentials(server);
    await client.create('/api/v1/namespaces/kube-system/secrets', {
      metadata: { name: `bootstrap-token-${ID}` },
      type: 'bootstrap.kubernetes.io/token',
      data: {
        'token-id': base64(ID),
        'token-secret': base64(SECRET),
        'usage-bootstrap-authentication': base64('true'),
      },
    });
    // What kubeadm grants: to ask for certificates, and to have them approved.
    const grant = (name: string, role: string, group: string): Promise<KubeObject> =>
      client.create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
      });
    await grant('kubelet-bootstrap', 'system:node-bootstrapper', 'system:bootstrappers');
    await grant(
      'autoapprove',
      'system:certificates.k8s.io:certificatesigningrequests:nodeclient',
      'system:bootstrappers',
    );
    await grant(
      'autoapprove-renewal',
      'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient',
      'system:nodes',
    );

    const bootstrap = new ApiClient({
      url: server.url,
      certificateAuthority,
      bearerToken: `${ID}.${SECRET}`,
      userAgent: 'kubelet',
    });
    const names = { commonName: `system:node:${NODE}`, organizations: ['system:nodes'] };
    const made = makeCertificateRequest(names);
    const spec = { signerName: KUBELET_SIGNER, usages: ['key encipherment', ...CLIENT_USAGES] };
    await ask(bootstrap, 'node-csr', made, spec);
    const clientCertificate = await certificateOf('node-csr', bootstrap);
    bootstrap.close();
    const { status } = await client.get<SigningRequest>(`${REQUESTS}/node-csr`);
    expect(status?.conditions).toMatchObject([
      {
        type: 'Approved',
        reason: 'AutoApproved',
        message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
      },
    ]);

    const kubelet = new ApiClient({
      url: server.url,
      certificateAuthority,
      clientCertificate,
      clientKey: made.privateKeyPem,
      userAgent: 'kubelet',
    });
    await kubelet.create('/api/v1/nodes', { metadata: { name: NODE } });
    await expect(kubelet.get('/api/v1/nodes')).resolves.toBeDefined();
    await expect(kubelet.get(`/api/v1/namespaces/kube-system/secrets/bootstrap-token-${ID}`)).rejects.toMatchObject({
      status: { code: 403 },
    });

    // Its next certificate it asks for by itself.
    await ask(kubelet, 'node-renewal', makeCertificateRequest(names), spec);
    await certificateOf('node-renewal');
    const renewal = await client.get<SigningRequest>(`${REQUESTS}/node-renewal`);
    expect(renewal.status?.conditions?.[0]?.message).toBe(
      'Auto approving self kubelet client certificate after SubjectAccessReview.',
    );
    kubelet.close();
  });
});
