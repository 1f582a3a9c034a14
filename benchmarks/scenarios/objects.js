/** What is stored for the measurements, and where. */

const NAMESPACE = 'bench-reads';
const WRITE_NAMESPACE = 'bench-writes';
const SCALE_NAMESPACE = 'bench-scale';

/** A ConfigMap of about `bytes` as JSON; `name` and the labels may contain `{n}`. */
function configMap(namespace, name, bytes, { labels = {}, data = {} } = {}) {
  const object = {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name, namespace, labels: { app: 'bench', ...labels } },
    data: { ...data, text: '' },
  };
  const missing = Math.max(0, bytes - JSON.stringify(object).length);
  object.data.text = 'sternpost '.repeat(Math.ceil(missing / 10)).slice(0, missing);
  return JSON.stringify(object);
}

function collectionPath(namespace) {
  return `/api/v1/namespaces/${namespace}/configmaps`;
}

module.exports = { NAMESPACE, SCALE_NAMESPACE, WRITE_NAMESPACE, collectionPath, configMap };
