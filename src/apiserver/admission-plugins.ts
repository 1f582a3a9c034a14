import { randomInt } from 'node:crypto';
import { alwaysAdmit } from '../admission/always-admit';
import { alwaysDeny } from '../admission/always-deny';
import { alwaysPullImages } from '../admission/always-pull-images';
import type { Authorize } from '../admission/authorize';
import { certificateApproval } from '../admission/certificate-approval';
import { certificateSigning } from '../admission/certificate-signing';
import { certificateSubjectRestriction } from '../admission/certificate-subject-restriction';
import type { PluginConfigurations } from '../admission/configuration';
import { defaultIngressClass, defaultStorageClass } from '../admission/default-class';
import { defaultTolerationSeconds } from '../admission/default-toleration-seconds';
import { denyEscalatingExec, denyExecOnPrivileged } from '../admission/deny-exec';
import { denyServiceExternalIPs } from '../admission/deny-service-external-ips';
import { eventRateLimit, parseEventRateLimit } from '../admission/event-rate-limit';
import { extendedResourceToleration } from '../admission/extended-resource-toleration';
import { limitPodHardAntiAffinityTopology } from '../admission/limit-pod-hard-anti-affinity-topology';
import { limitRanger } from '../admission/limit-ranger';
import { namespaceAutoProvision } from '../admission/namespace-auto-provision';
import { namespaceExists } from '../admission/namespace-exists';
import { namespaceLifecycle } from '../admission/namespace-lifecycle';
import { nodeRestriction } from '../admission/node-restriction';
import {
  ownerReferencesPermissionEnforcement,
  type OwnerResource,
} from '../admission/owner-references-permission-enforcement';
import { persistentVolumeClaimResize } from '../admission/persistent-volume-claim-resize';
import type { AdmissionPlugin } from '../admission/plugin';
import type { PolicyMetrics } from '../admission/policies/metrics';
import { policyParams } from '../admission/policies/params';
import { validatingAdmissionPolicy } from '../admission/policies/validating-admission-policy';
import type { KindDefinition } from '../api/kinds/kind-definition';
import { nameSuffix } from '../api/name-suffix';
import { PLUGINS, type PluginName } from '../admission/plugin-table';
import { parseNodeSelectors, podNodeSelector } from '../admission/pod-node-selector';
import { parsePodSecurity, podSecurity } from '../admission/pod-security';
import { parseTolerationDefaults, podTolerationRestriction } from '../admission/pod-toleration-restriction';
import { priorityAdmission } from '../admission/priority';
import { parseLimitedResources } from '../admission/quota-check';
import type { QuotaStore } from '../resources/quota-store';
import { resourceQuotaAdmission } from '../admission/resource-quota';
import { runtimeClassAdmission } from '../admission/runtime-class';
import { securityContextDeny } from '../admission/security-context-deny';
import { serviceAccountAdmission } from '../admission/service-account';
import { storageObjectInUseProtection } from '../admission/storage-object-in-use-protection';
import { taintNodesByCondition } from '../admission/taint-nodes-by-condition';
import type { Authorizer } from '../authz/attributes';
import { imagePolicyPlugin } from './image-policy-backend';
import type { RegistryReader } from '../resources/registry-reader';

/** What the flags say about admission. */
export interface AdmissionOptions {
  /** Those that are on, in order. */
  readonly plugins: readonly PluginName[];
  readonly configurations: PluginConfigurations;
  /** Paths in the configurations are relative to this file. */
  readonly configurationFile: string;
  readonly notReadySeconds: number;
  readonly unreachableSeconds: number;
  readonly boundTokens: boolean;
}

/** Without flags. */
export const DEFAULT_ADMISSION: AdmissionOptions = {
  plugins: PLUGINS.filter(({ on }) => on).map(({ name }) => name),
  configurations: new Map(),
  configurationFile: '',
  notReadySeconds: 300,
  unreachableSeconds: 300,
  boundTokens: true,
};

/** What plugins read, ask and write. */
export interface AdmissionDependencies {
  readonly reader: RegistryReader;
  readonly authorize: Authorizer;
  readonly quotas: QuotaStore;
  /** By group, version and kind; undefined when it is not served. */
  readonly findResource: (group: string, version: string, kind: string) => (OwnerResource & KindDefinition) | undefined;
  readonly policyMetrics: PolicyMetrics;
  /** Does nothing when it is there. */
  readonly createNamespace: (name: string, signal: AbortSignal) => Promise<void>;
  readonly requestTimeoutMs: number;
  /** The two plugins that call others; absent while there are none. */
  readonly webhooks?: { readonly mutating: AdmissionPlugin; readonly validating: AdmissionPlugin };
}

const POLICIES = 'validatingadmissionpolicies';
const BINDINGS = 'validatingadmissionpolicybindings';

function askAuthorizer(authorize: Authorizer): Authorize {
  return async (question) => {
    const { decision, reason } = await authorize({ ...question, resourceRequest: true, path: '' });
    return { allowed: decision === 'allow', reason };
  };
}

/** How each plugin is made; undefined: it has nothing to do. */
function factories(
  options: AdmissionOptions,
  dependencies: AdmissionDependencies,
): Readonly<Record<PluginName, () => AdmissionPlugin | undefined>> {
  const { reader, quotas, findResource, createNamespace, webhooks, requestTimeoutMs } = dependencies;
  const authorize = askAuthorizer(dependencies.authorize);
  const configuration = (name: PluginName): unknown => options.configurations.get(name);
  const getNamespace = (name: string) => reader.getLive('namespaces', name);
  const getPod = (namespace: string, name: string) => reader.getLive('pods', namespace, name);
  return {
    AlwaysAdmit: () => alwaysAdmit,
    NamespaceAutoProvision: () => namespaceAutoProvision({ getNamespace, createNamespace }),
    NamespaceLifecycle: () => namespaceLifecycle(getNamespace),
    NamespaceExists: () => namespaceExists(getNamespace),
    SecurityContextDeny: () => securityContextDeny,
    LimitPodHardAntiAffinityTopology: () => limitPodHardAntiAffinityTopology,
    LimitRanger: () => limitRanger((namespace) => reader.list('limitranges', namespace)),
    ServiceAccount: () =>
      serviceAccountAdmission({
        getServiceAccount: (namespace, name) => reader.getLive('serviceaccounts', namespace, name),
        getSecret: (namespace, name) => reader.get('secrets', namespace, name),
        randomSuffix: () => nameSuffix(randomInt),
        boundTokens: options.boundTokens,
      }),
    NodeRestriction: () => nodeRestriction({ getPod, getNode: (name) => reader.getLive('minions', name) }),
    TaintNodesByCondition: () => taintNodesByCondition,
    AlwaysPullImages: () => alwaysPullImages,
    ImagePolicyWebhook: () =>
      imagePolicyPlugin(configuration('ImagePolicyWebhook'), options.configurationFile, requestTimeoutMs),
    PodSecurity: () =>
      podSecurity(parsePodSecurity(configuration('PodSecurity')), {
        getNamespace,
        listPods: (namespace) => reader.list('pods', namespace),
      }),
    PodSecurityPolicy: () => undefined,
    PodNodeSelector: () => podNodeSelector(parseNodeSelectors(configuration('PodNodeSelector')), getNamespace),
    Priority: () =>
      priorityAdmission({
        get: (name) => reader.get('priorityclasses', name),
        list: () => reader.list('priorityclasses'),
      }),
    DefaultTolerationSeconds: () =>
      defaultTolerationSeconds({ notReady: options.notReadySeconds, unreachable: options.unreachableSeconds }),
    PodTolerationRestriction: () =>
      podTolerationRestriction(parseTolerationDefaults(configuration('PodTolerationRestriction')), getNamespace),
    DenyEscalatingExec: () => denyEscalatingExec(getPod),
    DenyExecOnPrivileged: () => denyExecOnPrivileged(getPod),
    EventRateLimit: () => eventRateLimit(parseEventRateLimit(configuration('EventRateLimit'))),
    ExtendedResourceToleration: () => extendedResourceToleration,
    PersistentVolumeLabel: () => undefined,
    DefaultStorageClass: () => defaultStorageClass(() => reader.list('storageclasses')),
    StorageObjectInUseProtection: () => storageObjectInUseProtection,
    OwnerReferencesPermissionEnforcement: () => ownerReferencesPermissionEnforcement({ authorize, findResource }),
    PersistentVolumeClaimResize: () => persistentVolumeClaimResize((name) => reader.get('storageclasses', name)),
    RuntimeClass: () => runtimeClassAdmission((name) => reader.getLive('runtimeclasses', name)),
    CertificateApproval: () => certificateApproval(authorize),
    CertificateSigning: () => certificateSigning(authorize),
    CertificateSubjectRestriction: () => certificateSubjectRestriction,
    DefaultIngressClass: () => defaultIngressClass(() => reader.list('ingressclasses')),
    DenyServiceExternalIPs: () => denyServiceExternalIPs,
    MutatingAdmissionWebhook: () => webhooks?.mutating,
    ValidatingAdmissionPolicy: () =>
      validatingAdmissionPolicy({
        listPolicies: () => reader.list(POLICIES),
        listBindings: () => reader.list(BINDINGS),
        revision: () => reader.changed(POLICIES) + reader.changed(BINDINGS),
        getNamespace,
        params: policyParams(reader, findResource),
        authorize: dependencies.authorize,
        metrics: dependencies.policyMetrics,
      }),
    ValidatingAdmissionWebhook: () => webhooks?.validating,
    ResourceQuota: () => resourceQuotaAdmission(quotas, parseLimitedResources(configuration('ResourceQuota'))),
    AlwaysDeny: () => alwaysDeny,
  };
}

/** The plugins that are on, in order. Throws when the configuration of one of them is wrong. */
export function admissionPlugins(
  options: AdmissionOptions,
  dependencies: AdmissionDependencies,
): readonly AdmissionPlugin[] {
  const make = factories(options, dependencies);
  return options.plugins.flatMap((name) => {
    try {
      return make[name]() ?? [];
    } catch (error) {
      throw new Error(`couldn't init admission plugin ${JSON.stringify(name)}: ${(error as Error).message}`, {
        cause: error,
      });
    }
  });
}
