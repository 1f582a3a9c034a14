import { StatusError } from '../api/errors/status-error';
import type { ApiClient } from '../client/api-client';
import { runInformer } from '../client/informer';
import type { Logger } from '../observability/logger';
import { followActiveNamespaces } from './active-namespaces';
import type { Controller } from './controller';
import { WorkQueue } from '../async/work-queue';

const DEFAULT_ACCOUNT = 'default';

/** Gives every active namespace its account `default`, again when it is deleted (spec, "Service-account related"). */
export function startServiceAccountController(client: ApiClient, logger: Logger): Controller {
  const stop = new AbortController();
  const { signal } = stop;
  const active = new Set<string>();

  const sync = async (namespace: string): Promise<void> => {
    if (!active.has(namespace)) return;
    try {
      await client.create(
        `/api/v1/namespaces/${namespace}/serviceaccounts`,
        { metadata: { name: DEFAULT_ACCOUNT } },
        signal,
      );
    } catch (error) {
      // It is there; or the namespace is gone, or going.
      if (error instanceof StatusError && [403, 404, 409].includes(error.status.code)) return;
      throw error;
    }
  };
  const queue = new WorkQueue(sync, (namespace, error) => {
    if (!signal.aborted) logger.warn({ namespace, err: error }, 'creating the default service account failed');
  });
  const failed = (error: unknown): void => logger.warn({ err: error }, 'watching for service accounts failed');
  const informers = [
    followActiveNamespaces(client, active, { activated: (name) => queue.add(name), failed }, signal),
    runInformer(
      client,
      '/api/v1/serviceaccounts',
      {
        changed: () => undefined,
        deleted: ({ metadata: { name, namespace = '' } }) => {
          if (name === DEFAULT_ACCOUNT) queue.add(namespace);
        },
        failed,
      },
      signal,
    ),
  ];
  return {
    name: 'serviceaccount',
    close: async () => {
      stop.abort();
      await Promise.all(informers);
      await queue.close();
    },
  };
}
