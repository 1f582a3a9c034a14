import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApiServer, type ApiServer } from '../../src';
import type { ApiClient } from '../../src/client/api-client';
import { adminClient } from './admin-client';
import { writeTestCertificates } from './certificates';
import { FakeKubelet, type FakeKubeletOptions } from './fake-kubelet';

/** A server with a node, whose kubelet is played, and the pod `pod` in the namespace `ns` on it. */
export class StreamingCluster {
  private constructor(
    readonly folder: string,
    readonly kubelet: FakeKubelet,
    readonly server: ApiServer,
    readonly client: ApiClient,
  ) {}

  static async start(
    options: Pick<FakeKubeletOptions, 'onRequest' | 'writeLog' | 'speaksHttp2'>,
  ): Promise<StreamingCluster> {
    const folder = mkdtempSync(join(tmpdir(), 'sternpost-streams-'));
    const files = await writeTestCertificates(folder, writeFile);
    const kubelet = new FakeKubelet({
      certificate: readFileSync(files.certificate, 'utf8'),
      key: readFileSync(files.key, 'utf8'),
      authority: readFileSync(files.ca, 'utf8'),
      ...options,
    });
    const port = await kubelet.listen();
    const server = await startApiServer({
      // The others' watches come and go, which whoever counts connections would see.
      controllers: ['serviceaccount'],
      flags: {
        'kubelet-certificate-authority': files.ca,
        'kubelet-client-certificate': files.certificate,
        'kubelet-client-key': files.key,
      },
    });
    const client = adminClient(server);
    const status = {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
    };
    await client.create('/api/v1/nodes', { metadata: { name: 'node' }, status });
    await client.create('/api/v1/namespaces', { metadata: { name: 'ns' } });
    await client.create('/api/v1/namespaces/ns/serviceaccounts', { metadata: { name: 'account' } });
    const spec = {
      nodeName: 'node',
      serviceAccountName: 'account',
      automountServiceAccountToken: false,
      containers: [{ name: 'main', image: 'i', stdin: true }],
    };
    await client.create('/api/v1/namespaces/ns/pods', { metadata: { name: 'pod' }, spec });
    await client.patch('/api/v1/namespaces/ns/pods/pod/status', 'merge', {
      status: { phase: 'Running', containerStatuses: [] },
    });
    return new StreamingCluster(folder, kubelet, server, client);
  }

  async stop(): Promise<void> {
    this.client.close();
    await this.server.stop();
    await this.kubelet.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
