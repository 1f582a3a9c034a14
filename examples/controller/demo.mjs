import { setTimeout as delay } from 'node:timers/promises';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { startApiServer } from 'sternpost';
import { startCopier } from './controller.mjs';

const server = await startApiServer({
  objects: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'copies' } }],
});
const stop = await startCopier(server.kubeconfig);

const config = new KubeConfig();
config.loadFromString(server.kubeconfig);
const api = config.makeApiClient(CoreV1Api);
const body = { metadata: { name: 'settings', labels: { 'copy-to': 'copies' } }, data: { colour: 'blue' } };
await api.createNamespacedConfigMap({ namespace: 'default', body });

let copy;
while (copy === undefined) {
  await delay(50);
  copy = await api.readNamespacedConfigMap({ namespace: 'copies', name: 'settings' }).catch(() => undefined);
}
console.log(`copied from ${copy.metadata.annotations['copied-from']}: ${JSON.stringify(copy.data)}`);

await stop();
await server.stop();
