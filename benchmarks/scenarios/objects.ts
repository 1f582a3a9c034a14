/** What is stored for the measurements, and where. */

export const NAMESPACE = 'bench-reads';
export const WRITE_NAMESPACE = 'bench-writes';
export const SCALE_NAMESPACE = 'bench-scale';

type Texts = Readonly<Record<string, string>>;

/** A ConfigMap of about `bytes` as JSON; `name` and the labels may contain `{n}`. */
export function configMap(
  namespace: string,
  name: string,
  bytes: number,
  { labels = {}, data = {} }: { readonly labels?: Texts; readonly data?: Texts } = {},
): string {
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

export function collectionPath(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/configmaps`;
}
