import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ApiException, CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';

const LABEL = 'copy-to';

/** Keeps copies of labelled ConfigMaps. Resolves, when the informer follows, with what ends it. */
export async function startCopier(kubeconfig) {
  const config = new KubeConfig();
  config.loadFromString(kubeconfig);
  const api = config.makeApiClient(CoreV1Api);
  const list = () => api.listConfigMapForAllNamespaces({ labelSelector: LABEL });
  const informer = makeInformer(config, '/api/v1/configmaps', list, LABEL);
  const reconcile = (configMap) =>
    copy(api, configMap).catch((error) => console.error('copying failed:', error.message));
  informer.on('add', reconcile);
  informer.on('update', reconcile);
  // The informer has given up: it is for us to say when it tries again.
  informer.on('error', () => setTimeout(() => informer.start(), 1000).unref());
  await informer.start();
  return () => informer.stop();
}

/** Creates the copy, or brings it up to date. */
async function copy(api, { metadata, data }) {
  const namespace = metadata.labels[LABEL];
  const body = { metadata: { name: metadata.name, annotations: { 'copied-from': metadata.namespace } }, data };
  try {
    await api.createNamespacedConfigMap({ namespace, body });
  } catch (error) {
    if (!(error instanceof ApiException) || error.code !== 409) throw error;
    await api.replaceNamespacedConfigMap({ namespace, name: metadata.name, body });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const stop = await startCopier(readFileSync(process.argv[2] ?? '.sternpost/kubeconfig', 'utf8'));
  process.once('SIGINT', stop).once('SIGTERM', stop);
}
