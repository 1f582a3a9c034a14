import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApiServer } from 'sternpost';
import { createWebhook } from './webhook.mjs';

const tls = certificateOf('127.0.0.1');
const webhook = createWebhook(tls);
await new Promise((resolve) => webhook.listen(0, '127.0.0.1', resolve));

const server = await startApiServer({
  // Namespaces have a label with their name.
  featureGates: { NamespaceDefaultLabelName: true },
  objects: [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'owners' },
      webhooks: [
        {
          name: 'owners.example.io',
          clientConfig: {
            url: `https://127.0.0.1:${webhook.address().port}/`,
            caBundle: Buffer.from(tls.cert).toString('base64'),
          },
          rules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] },
          ],
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    },
  ],
});

console.log(await create({ name: 'without-owner' }));
console.log(await create({ name: 'with-owner', annotations: { owner: 'alice' } }));

await server.stop();
webhook.close();
webhook.closeAllConnections();

function create(metadata) {
  const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' };
  const path = `${server.url}/api/v1/namespaces/default/configmaps`;
  return new Promise((resolve, reject) => {
    const sent = request(path, { method: 'POST', headers, ca: server.certificateAuthority }, async (response) => {
      let text = '';
      for await (const piece of response) text += piece;
      const { message = 'created' } = JSON.parse(text);
      resolve(`${response.statusCode} ${message}`);
    });
    sent.on('error', reject).end(JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata }));
  });
}

function certificateOf(address) {
  const folder = mkdtempSync(join(tmpdir(), 'webhook-'));
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder, name));
  const subject = ['-subj', '/CN=webhook', '-addext', `subjectAltName=IP:${address}`];
  const args = [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    key,
    '-out',
    cert,
    '-days',
    '1',
    ...subject,
  ];
  execFileSync('openssl', args, { stdio: 'ignore' });
  try {
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
