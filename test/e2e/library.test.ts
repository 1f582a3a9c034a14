import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type * as Kubernetes from '@kubernetes/client-node' with { 'resolution-mode': 'import' };
import { startApiServer } from '../../src';

/** The package as authors of controllers use it, with the JavaScript client. */

// An ES module: from CommonJS it is loaded with import().
let kubernetes: typeof Kubernetes;
beforeAll(async () => {
  kubernetes = await import('@kubernetes/client-node');
});

function configOf(text: string): Kubernetes.KubeConfig {
  const config = new kubernetes.KubeConfig();
  config.loadFromString(text);
  return config;
}

async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > end) throw new Error('it did not happen within ten seconds');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('startApiServer', () => {
  it('gives every test a server of its own, which the JavaScript client reads and writes', async () => {
    await using one = await startApiServer();
    await using two = await startApiServer();
    const [first, second] = [one, two].map((server) => configOf(server.kubeconfig).makeApiClient(kubernetes.CoreV1Api));
    await first!.createNamespacedConfigMap({
      namespace: 'default',
      body: { metadata: { name: 'only-here' }, data: { a: 'b' } },
    });
    const names = async (api: Kubernetes.CoreV1Api): Promise<readonly (string | undefined)[]> =>
      (await api.listNamespacedConfigMap({ namespace: 'default' })).items.map(({ metadata }) => metadata?.name);
    await expect(names(first!)).resolves.toContain('only-here');
    await expect(names(second!)).resolves.not.toContain('only-here');
  }, 30_000);

  it('feeds informers', async () => {
    await using server = await startApiServer();
    const config = configOf(server.kubeconfig);
    const api = config.makeApiClient(kubernetes.CoreV1Api);
    const seen: string[] = [];
    const informer = kubernetes.makeInformer<Kubernetes.V1ConfigMap>(
      config,
      '/api/v1/namespaces/default/configmaps',
      () => api.listNamespacedConfigMap({ namespace: 'default' }),
    );
    informer.on('add', ({ metadata }) => seen.push(`add ${metadata?.name}`));
    informer.on('delete', ({ metadata }) => seen.push(`delete ${metadata?.name}`));
    await informer.start();
    await api.createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name: 'x' } } });
    await until(() => seen.includes('add x'));
    await api.deleteNamespacedConfigMap({ namespace: 'default', name: 'x' });
    await until(() => seen.includes('delete x'));
    await informer.stop();
  }, 30_000);

  it('ends the watches of its clients when it stops', async () => {
    const server = await startApiServer();
    const ended = new Promise<void>((resolve, reject) => {
      void new kubernetes.Watch(configOf(server.kubeconfig))
        .watch(
          '/api/v1/namespaces',
          {},
          () => undefined,
          () => resolve(),
        )
        .catch(reject);
    });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await server.stop();
    await ended;
    await server.stop();
  }, 30_000);

  it('leaves nothing behind when it cannot start', async () => {
    const folder = mkdtempSync(`${tmpdir()}/sternpost-library-`);
    const before = process.env['TMPDIR'];
    process.env['TMPDIR'] = folder;
    try {
      await using first = await startApiServer();
      const kept = readdirSync(folder);
      const port = Number(new URL(first.url).port);
      await expect(startApiServer({ port })).rejects.toThrow(`port ${port} of 127.0.0.1 is taken by another process`);
      expect(readdirSync(folder)).toEqual(kept);
    } finally {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
      rmSync(folder, { recursive: true, force: true });
    }
  }, 30_000);

  it('can be started again on a folder on which a start has failed', async () => {
    const dataDir = mkdtempSync(`${tmpdir()}/sternpost-library-`);
    try {
      await using other = await startApiServer();
      await expect(startApiServer({ dataDir, port: Number(new URL(other.url).port) })).rejects.toThrow('--secure-port');
      await using server = await startApiServer({ dataDir });
      expect(server.url).toMatch(/^https:/);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  }, 30_000);

  it('keeps what was written when it is started again on the same folder', async () => {
    const dataDir = mkdtempSync(`${tmpdir()}/sternpost-library-`);
    try {
      const before = await startApiServer({ dataDir });
      await configOf(before.kubeconfig)
        .makeApiClient(kubernetes.CoreV1Api)
        .createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name: 'kept' } } });
      await before.stop();
      await using after = await startApiServer({ dataDir });
      const api = configOf(after.kubeconfig).makeApiClient(kubernetes.CoreV1Api);
      await expect(api.readNamespacedConfigMap({ namespace: 'default', name: 'kept' })).resolves.toMatchObject({
        metadata: { name: 'kept' },
      });
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  }, 30_000);
});
