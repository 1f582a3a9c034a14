import { WatchedFiles } from '../files/watched-files';
import type { Logger } from '../observability/logger';
import { kubeconfigFiles } from './kubeconfig-file';
import { webhookClient, type WebhookClient } from './webhook-client';

/**
 * A client for the peer of a kubeconfig file that is read again when it, or a file that it names, changes: new questions go to the new
 * peer. What cannot be used changes nothing.
 */
export function changingWebhookClient(kubeconfigFile: string, logger?: Logger): WebhookClient {
  let files = kubeconfigFiles(kubeconfigFile);
  const clients: WebhookClient[] = [];
  const load = (): WebhookClient => {
    const client = webhookClient(kubeconfigFile);
    clients.push(client);
    // On the one before questions may be under way; those on earlier ones have had their time.
    while (clients.length > 2) clients.shift()?.close();
    return client;
  };
  const watch = (): WatchedFiles<WebhookClient> =>
    new WatchedFiles({
      files,
      load,
      onChanged: () => {
        logger?.info({ file: kubeconfigFile }, 'the kubeconfig of a webhook was read again');
        const named = kubeconfigFiles(kubeconfigFile);
        if (named.join() === files.join()) return;
        files = named;
        watched.close();
        watched = watch();
      },
      onFailed: (error) => logger?.warn({ err: error }, 'the changed kubeconfig of a webhook cannot be used yet'),
    });
  let watched = watch();
  return {
    post: (review) => watched.current().post(review),
    close: () => {
      watched.close();
      for (const client of clients) client.close();
    },
  };
}
