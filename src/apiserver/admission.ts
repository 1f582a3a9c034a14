import { admissionChain, type AdmissionChain } from '../admission/chain';
import { guardedAdmission } from '../admission/guards';
import { AdmissionMetrics } from '../admission/metrics';
import { PolicyMetrics } from '../admission/policies/metrics';
import type { CallBackend } from '../admission/webhooks/call';
import type { ObjectVersions } from '../admission/versions/object-versions';
import { servedVersions } from '../admission/versions/served-versions';
import type { WebhookType } from '../admission/webhooks/webhook';
import { escalationGuard } from '../authz/escalation';
import type { Logger } from '../observability/logger';
import { namespaceCreator } from '../resources/namespace-creator';
import { quotaStore } from '../resources/quota-store';
import type { Access } from './access';
import { admissionPlugins, DEFAULT_ADMISSION, type AdmissionOptions } from './admission-plugins';
import { admissionWebhooks, type AdmissionWebhooks } from './admission-webhooks';
import type { Backends } from './backends';
import type { ServingCertificates } from './certificates';
import type { CloseStack } from './close-stack';
import type { Instruments } from './instruments';
import { once, type StartPhases } from './start-phases';
import type { Storage } from './storage';
import { webhookBackends } from './webhook-backends';
import { webhookCredentials } from './webhook-credentials';

export interface AdmissionStartOptions {
  /** Absent: the plugins that are on by default. */
  readonly admission?: AdmissionOptions;
  /** Signs this server's own certificate: for webhooks that are served by it. */
  readonly certificates: Pick<ServingCertificates, 'servingAuthority'>;
  readonly requestTimeoutMs: number;
  readonly logger: Logger;
}

/** What admission is made of. */
export interface AdmissionParts {
  readonly storage: Storage;
  readonly access: Access;
  readonly instruments: Instruments;
  readonly backends: Backends;
}

/** Resolves when the webhooks that are configured are known. */
export async function startAdmission(
  options: AdmissionStartOptions,
  made: AdmissionParts,
  phases: StartPhases,
  parts: CloseStack,
): Promise<AdmissionChain> {
  const { storage, access, instruments } = made;
  const { catalogue, reader, own } = storage;
  const { authorize, rbac } = access.authorization;
  const admission = options.admission ?? DEFAULT_ADMISSION;
  const versions = servedVersions(catalogue);
  const webhooks = await startWebhooks(options, admission, versions, made, parts);
  const plugins = admissionPlugins(admission, {
    reader,
    webhooks,
    versions,
    authorize,
    quotas: quotaStore({ ...storage, quotas: own('', 'resourcequotas') }),
    findResource: (group, version, kind) =>
      catalogue
        .definitions()
        .find((one) => one.kind === kind && one.versions.some((v) => v.group === group && v.version === version)),
    policyMetrics: new PolicyMetrics(instruments.registry),
    createNamespace: namespaceCreator(catalogue.registryOf('', 'namespaces')),
    requestTimeoutMs: options.requestTimeoutMs,
    logger: options.logger,
  });
  const hasNamespace = (name: string): boolean => reader.get('namespaces', name) !== undefined;
  phases.finish(
    'poststarthook/start-kube-apiserver-admission-initializer',
    once(() => hasNamespace('kube-system') && hasNamespace('default')),
  );
  return guardedAdmission(
    admissionChain(plugins, new AdmissionMetrics(instruments.registry)),
    authorize,
    escalationGuard(rbac, authorize),
  );
}

async function startWebhooks(
  { certificates, logger }: AdmissionStartOptions,
  { configurations }: AdmissionOptions,
  versions: ObjectVersions,
  { storage, access, instruments, backends }: AdmissionParts,
  parts: CloseStack,
): Promise<AdmissionWebhooks> {
  const callerFor = (type: WebhookType): CallBackend =>
    webhookBackends({
      ...backends,
      credentialsFor: webhookCredentials(configurations, type, logger),
      ownAuthority: certificates.servingAuthority,
    });
  const webhooks = admissionWebhooks({
    versions,
    authorize: access.authorization.authorize,
    getNamespace: (name) => storage.reader.getLive('namespaces', name),
    callBackend: { admit: callerFor('admit'), validating: callerFor('validating') },
    registry: instruments.registry,
    logger,
  });
  const feed = storage.feed(webhooks.sinks);
  parts.add(() => feed.close());
  await feed.caughtUp;
  return webhooks;
}
