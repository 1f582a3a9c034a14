import { AuthenticationMetrics } from '../authn/metrics';
import type { Logger } from '../observability/logger';
import {
  createAuthentication,
  liveServiceAccountKeys,
  type Authentication,
  type AuthenticationOptions,
  type LiveServiceAccountKeys,
} from './authentication';
import { createAuthorization, type Authorization, type AuthorizationOptions } from './authorization';
import type { CloseStack } from './close-stack';
import { noteLegacyTokenUse } from './legacy-token-tracking';
import type { Instruments } from './instruments';
import type { StartPhases } from './start-phases';
import type { Storage } from './storage';
import type { TlsMaterial } from './tls-material';

export interface AccessOptions {
  readonly authentication: AuthenticationOptions;
  readonly authorization: AuthorizationOptions;
  readonly tls: Pick<TlsMaterial, 'clientAuthority' | 'frontAuthority'>;
  readonly logger: Logger;
}

/** Authentication and authorization. */
export interface Access {
  readonly authentication: Authentication;
  readonly authorization: Authorization;
  readonly serviceAccountKeys: LiveServiceAccountKeys;
}

/** Resolves when authorization knows the roles, the bindings and the nodes' pods that there are. */
export async function startAccess(
  options: AccessOptions,
  storage: Storage,
  { registry, certificates }: Instruments,
  phases: StartPhases,
  parts: CloseStack,
): Promise<Access> {
  const { logger, tls } = options;
  const authorization = createAuthorization(options.authorization);
  parts.add(() => authorization.close());
  const feed = storage.feed(authorization.sinks);
  parts.add(() => feed.close());
  phases.finish('poststarthook/generic-apiserver-start-informers', () => feed.isFollowing());

  const serviceAccountKeys = liveServiceAccountKeys(options.authentication.serviceAccounts, logger);
  parts.add(() => serviceAccountKeys.close());
  const stopping = new AbortController();
  parts.add(() => stopping.abort());
  const authentication = createAuthentication(options.authentication, {
    reader: storage.reader,
    keys: serviceAccountKeys,
    clientAuthority: tls.clientAuthority,
    frontAuthority: tls.frontAuthority,
    metrics: new AuthenticationMetrics(registry),
    noteTokenUse: noteLegacyTokenUse(storage.catalogue.registryOf('', 'secrets'), logger, stopping.signal),
    showedCertificate: certificates.clientShowed,
    logger,
  });
  parts.add(() => authentication.close());
  await feed.caughtUp;
  return { authentication, authorization, serviceAccountKeys };
}
