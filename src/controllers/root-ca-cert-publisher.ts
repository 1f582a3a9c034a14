import { isDeepStrictEqual } from 'node:util';
import { StatusError } from '../api/errors/status-error';
import type { KubeObject } from '../api/object';
import type { ApiClient } from '../client/api-client';
import { runInformer } from '../client/informer';
import type { Logger } from '../observability/logger';
import { followActiveNamespaces } from './active-namespaces';
import type { Controller } from './controller';
import { WorkQueue } from '../async/work-queue';

const NAME = 'kube-root-ca.crt';

/**
 * Publishes the CA of the API server as `kube-root-ca.crt` in every active namespace, for the token volumes of pods, and
 * again when somebody changes or deletes it (spec, "Service account-related"). `rootCertificates`: PEM.
 */
export function startRootCaCertPublisher(client: ApiClient, rootCertificates: string, logger: Logger): Controller {
  const stop = new AbortController();
  const { signal } = stop;
  const active = new Set<string>();
  const published = new Map<string, KubeObject>();
  const data = { 'ca.crt': rootCertificates };

  const sync = async (namespace: string): Promise<void> => {
    if (!active.has(namespace)) return;
    const known = published.get(namespace);
    if (known !== undefined && isDeepStrictEqual(known.data, data)) return;
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    try {
      if (known === undefined) await client.create(path, { metadata: { name: NAME }, data }, signal);
      else await client.update(`${path}/${NAME}`, { ...known, data, binaryData: undefined }, signal);
    } catch (error) {
      // It is there; or the namespace is gone, or going.
      if (error instanceof StatusError && [403, 404].includes(error.status.code)) return;
      if (error instanceof StatusError && known === undefined && error.status.code === 409) return;
      throw error;
    }
  };
  const queue = new WorkQueue(sync, (namespace, error) => {
    if (!signal.aborted) logger.warn({ namespace, err: error }, 'publishing the root CA failed');
  });
  const failed = (error: unknown): void => logger.warn({ err: error }, 'watching for the root CA failed');
  const informers = [
    runInformer(
      client,
      `/api/v1/configmaps?fieldSelector=${encodeURIComponent(`metadata.name=${NAME}`)}`,
      {
        changed: (map) => {
          published.set(map.metadata.namespace ?? '', map);
          queue.add(map.metadata.namespace ?? '');
        },
        deleted: ({ metadata: { namespace = '' } }) => {
          published.delete(namespace);
          queue.add(namespace);
        },
        failed,
      },
      signal,
    ),
    followActiveNamespaces(client, active, { activated: (name) => queue.add(name), failed }, signal),
  ];
  return {
    name: 'root-ca-cert-publisher',
    close: async () => {
      stop.abort();
      await Promise.all(informers);
      await queue.close();
    },
  };
}
