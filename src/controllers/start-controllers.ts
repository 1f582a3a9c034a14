import type { ApiClient } from '../client/api-client';
import { startClusterRoleAggregation } from './clusterrole-aggregation';
import type { Controller } from './controller';
import { startGarbageCollector } from './garbage-collector/garbage-collector';
import { startNamespaceController } from './namespace';
import { startResourceQuotaController } from './resource-quota';
import { startRootCaCertPublisher } from './root-ca-cert-publisher';
import { startServiceAccountController } from './service-account';
import { startServiceAccountTokenController } from './service-account-token';
import type { Logger } from '../observability/logger';
import type { SigningKey } from '../pki/signing-keys';

/** What the controllers share. */
export interface ControllerContext {
  readonly client: ApiClient;
  readonly logger: Logger;
  /** PEM of the API server's CA, published to pods; undefined: the controllers that need it stay off. */
  readonly rootCertificates: string | undefined;
  /** Signs the tokens of token secrets; undefined: there are none. */
  readonly signingKey: SigningKey | undefined;
}

type Start = (context: ControllerContext) => Controller | undefined;

/** Every controller, by the name that `--controllers` knows. */
const CONTROLLERS: Readonly<Record<string, Start>> = {
  namespace: ({ client, logger }) => startNamespaceController(client, logger),
  serviceaccount: ({ client, logger }) => startServiceAccountController(client, logger),
  'serviceaccount-token': ({ client, logger, signingKey, rootCertificates = '' }) =>
    signingKey && startServiceAccountTokenController(client, { signingKey, rootCertificates }, logger),
  'root-ca-cert-publisher': ({ client, logger, rootCertificates }) =>
    rootCertificates === undefined ? undefined : startRootCaCertPublisher(client, rootCertificates, logger),
  'clusterrole-aggregation': ({ client, logger }) => startClusterRoleAggregation(client, logger),
  garbagecollector: ({ client, logger }) => startGarbageCollector({ client, logger }),
  resourcequota: ({ client, logger }) => startResourceQuotaController(client, logger),
};

export const CONTROLLER_NAMES: readonly string[] = Object.keys(CONTROLLERS);

/**
 * The controllers that a `--controllers` list selects: `*` is all, `name` turns one on, `-name` off; the first that
 * speaks of a controller counts.
 */
export function selectControllers(list: readonly string[]): readonly string[] {
  return CONTROLLER_NAMES.filter((name) => {
    const said = list.find((entry) => entry === name || entry === `-${name}`);
    return said === undefined ? list.includes('*') : said === name;
  });
}

/** Names in the list that nobody here knows; those of other controllers of Kubernetes may be among them. */
export function unknownControllers(list: readonly string[]): readonly string[] {
  return list.filter((entry) => entry !== '*' && !CONTROLLER_NAMES.includes(entry.replace(/^-/, '')));
}

export function startControllers(names: readonly string[], context: ControllerContext): readonly Controller[] {
  return names.flatMap((name) => CONTROLLERS[name]?.(context) ?? []);
}
