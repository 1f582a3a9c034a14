import type { Registry } from 'prom-client';
import type { AdmissionPlugin } from '../admission/plugin';
import { compileConfiguration } from '../admission/webhooks/compile';
import { evaluateConditions } from '../admission/webhooks/evaluate-conditions';
import { WebhookMetrics } from '../admission/webhooks/metrics';
import { mutatingWebhooks } from '../admission/webhooks/mutating';
import type { NamespaceLabels, ObjectVersions } from '../admission/versions/object-versions';
import { validatingWebhooks } from '../admission/webhooks/validating';
import type { Webhook, WebhookType } from '../admission/webhooks/webhook';
import { WebhookIndex } from '../admission/webhooks/webhook-index';
import type { Authorizer } from '../authz/attributes';
import { whenKnown, type MaybePromise } from '../api/maybe-promise';
import type { KubeObject } from '../api/object';
import type { CallBackend } from '../admission/webhooks/call';
import type { Logger } from '../observability/logger';
import type { ResourceSink } from '../resources/resource-feed';

export interface AdmissionWebhooksDependencies {
  readonly versions: ObjectVersions;
  /** For conditions that check authorization. */
  readonly authorize: Authorizer;
  readonly getNamespace: (name: string) => MaybePromise<KubeObject | undefined>;
  /** For the webhooks of each plugin. */
  readonly callBackend: Readonly<Record<WebhookType, CallBackend>>;
  readonly registry: Registry;
  readonly logger: Logger;
}

/** The two plugins that ask others. */
export interface AdmissionWebhooks {
  readonly mutating: AdmissionPlugin;
  readonly validating: AdmissionPlugin;
  /** To be told of every configuration. */
  readonly sinks: readonly ResourceSink[];
}

const NO_LABELS: Readonly<Record<string, string>> = {};

/** Makes the plugins, which are up to date with the configurations as far as their sinks are. */
export function admissionWebhooks(dependencies: AdmissionWebhooksDependencies): AdmissionWebhooks {
  const { versions, authorize, getNamespace, callBackend, registry, logger } = dependencies;
  const namespaceLabels: NamespaceLabels = (name) =>
    whenKnown(getNamespace(name), (namespace) => namespace && (namespace.metadata.labels ?? NO_LABELS));
  const shared = {
    versions,
    namespaceLabels,
    evaluateConditions: evaluateConditions(authorize, versions),
    metrics: new WebhookMetrics(registry),
    failedOpen: ({ name, configuration, type }: Webhook, failure: Error) =>
      logger.warn({ webhook: name, configuration, type, reason: failure.message }, 'a webhook failed, failing open'),
  };
  const indexes = { admit: new WebhookIndex(versions), validating: new WebhookIndex(versions) };
  return {
    mutating: mutatingWebhooks(indexes.admit, { ...shared, callBackend: callBackend.admit }),
    validating: validatingWebhooks(indexes.validating, { ...shared, callBackend: callBackend.validating }),
    sinks: [
      configurationSink('mutatingwebhookconfigurations', 'admit', indexes.admit),
      configurationSink('validatingwebhookconfigurations', 'validating', indexes.validating),
    ],
  };
}

function configurationSink(storagePrefix: string, type: WebhookType, index: WebhookIndex): ResourceSink {
  const compiled = new Map<string, readonly Webhook[]>();
  // Configurations are called in the order of their names, as Go compares them.
  const inOrder = (): readonly Webhook[] => {
    const names = [...compiled.keys()].sort((left, right) => (left < right ? -1 : 1));
    return names.flatMap((name) => compiled.get(name) ?? []);
  };
  return {
    storagePrefix,
    put: (configuration) => {
      compiled.set(configuration.metadata.name ?? '', compileConfiguration(configuration, type));
      index.changed(inOrder);
    },
    delete: (configuration) => {
      compiled.delete(configuration.metadata.name ?? '');
      index.changed(inOrder);
    },
  };
}
