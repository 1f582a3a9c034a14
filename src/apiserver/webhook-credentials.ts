import { isAbsolute } from 'node:path';
import type { PluginConfigurations } from '../admission/configuration';
import type { WebhookType } from '../admission/webhooks/webhook';
import { NO_CREDENTIALS, readBackendCredentials, type BackendCredentials } from '../client/backend-credentials';
import { followKubeconfig } from '../client/followed-kubeconfig';
import type { Logger } from '../observability/logger';

const KINDS: ReadonlyMap<string, string> = new Map([
  ['apiserver.config.k8s.io/v1', 'WebhookAdmissionConfiguration'],
  ['apiserver.config.k8s.io/v1alpha1', 'WebhookAdmission'],
]);

const PLUGIN: Readonly<Record<WebhookType, string>> = {
  admit: 'MutatingAdmissionWebhook',
  validating: 'ValidatingAdmissionWebhook',
};

/** What a webhook is shown, by its host and port. */
export type CredentialsFor = (hostAndPort: string) => BackendCredentials;

/**
 * The credentials of the file that a plugin's part of `--admission-control-config-file` names; none without such a part. Throws what is
 * wrong with it.
 */
export function webhookCredentials(
  configurations: PluginConfigurations,
  type: WebhookType,
  logger: Logger,
): CredentialsFor {
  const plugin = PLUGIN[type];
  const configuration = configurations.get(plugin);
  if (configuration === undefined || configuration === null) return () => NO_CREDENTIALS;
  try {
    const file = kubeconfigOf(configuration);
    return file === '' ? () => NO_CREDENTIALS : changingCredentials(file, logger);
  } catch (error) {
    throw new Error(`couldn't init admission plugin ${JSON.stringify(plugin)}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function changingCredentials(file: string, logger: Logger): CredentialsFor {
  const close = (): void => undefined;
  const { current } = followKubeconfig(file, () => ({ credentialsFor: readBackendCredentials(file), close }), logger);
  return (hostAndPort) => current().credentialsFor(hostAndPort);
}

function kubeconfigOf(configuration: unknown): string {
  const { apiVersion, kind, kubeConfigFile } = configuration as Readonly<Record<string, unknown>>;
  if (typeof apiVersion !== 'string' || kind === undefined || KINDS.get(apiVersion) !== kind) {
    throw new Error(`no kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)} is known`);
  }
  if (kubeConfigFile === undefined || kubeConfigFile === '') return '';
  if (typeof kubeConfigFile !== 'string' || !isAbsolute(kubeConfigFile)) {
    throw new Error(`kubeConfigFile: Invalid value: ${JSON.stringify(kubeConfigFile)}: must be an absolute file path`);
  }
  return kubeConfigFile;
}
