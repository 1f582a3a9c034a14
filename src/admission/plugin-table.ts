import { randomInt } from 'node:crypto';
import { alwaysAdmit } from './always-admit';
import { alwaysDeny } from './always-deny';
import { alwaysPullImages } from './always-pull-images';
import type { Authorize } from './authorize';
import { certificateApproval } from './certificate-approval';
import { certificateSigning } from './certificate-signing';
import { certificateSubjectRestriction } from './certificate-subject-restriction';
import { defaultIngressClass, defaultStorageClass } from './default-class';
import { defaultTolerationSeconds } from './default-toleration-seconds';
import { denyEscalatingExec, denyExecOnPrivileged } from './deny-exec';
import { denyServiceExternalIPs } from './deny-service-external-ips';
import { eventRateLimit, parseEventRateLimit } from './event-rate-limit';
import { extendedResourceToleration } from './extended-resource-toleration';
import { limitPodHardAntiAffinityTopology } from './limit-pod-hard-anti-affinity-topology';
import { limitRanger } from './limit-ranger';
import { namespaceAutoProvision } from './namespace-auto-provision';
import { namespaceExists } from './namespace-exists';
import { namespaceLifecycle } from './namespace-lifecycle';
import { nodeRestriction } from './node-restriction';
import { ownerReferencesPermissionEnforcement, type OwnerResource } from './owner-references-permission-enforcement';
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize';
import type { AdmissionPlugin } from './plugin';
import type { PolicyMetrics } from './policies/metrics';
import { policyParams } from './policies/params';
import type { ObjectVersions } from './versions/object-versions';
import { validatingAdmissionPolicy } from './policies/validating-admission-policy';
import type { KindDefinition } from '../api/kinds/kind-definition';
import type { MaybePromise } from '../api/maybe-promise';
import { nameSuffix } from '../api/name-suffix';
import type { KubeObject } from '../api/object';
import { parseNodeSelectors, podNodeSelector } from './pod-node-selector';
import { parsePodSecurity, podSecurity } from './pod-security';
import { parseTolerationDefaults, podTolerationRestriction } from './pod-toleration-restriction';
import { priorityAdmission } from './priority';
import { parseLimitedResources } from './quota-check';
import type { QuotaStore } from '../resources/quota-store';
import { resourceQuotaAdmission } from './resource-quota';
import { runtimeClassAdmission } from './runtime-class';
import { securityContextDeny } from './security-context-deny';
import { serviceAccountAdmission } from './service-account';
import { storageObjectInUseProtection } from './storage-object-in-use-protection';
import { taintNodesByCondition } from './taint-nodes-by-condition';
import type { Authorizer } from '../authz/attributes';
import type { RegistryReader } from '../resources/registry-reader';

/** What is read, asked and written by plugins. */
export interface PluginSetup {
  readonly reader: RegistryReader;
  readonly authorizer: Authorizer;
  readonly authorize: Authorize;
  readonly quotas: QuotaStore;
  /** By group, version and kind; undefined when it is not served. */
  readonly findResource: (group: string, version: string, kind: string) => (OwnerResource & KindDefinition) | undefined;
  readonly versions: ObjectVersions;
  readonly policyMetrics: PolicyMetrics;
  /** Does nothing when it is there. */
  readonly createNamespace: (name: string, signal: AbortSignal) => Promise<void>;
  readonly getNamespace: (name: string) => MaybePromise<KubeObject | undefined>;
  readonly getPod: (namespace: string, name: string) => MaybePromise<KubeObject | undefined>;
  /** Makes the plugin that asks the backend of its configuration. Throws what is wrong with that. */
  readonly imagePolicy: (configuration: unknown) => AdmissionPlugin;
  /** The two plugins that call others; absent while there are none. */
  readonly webhooks?: { readonly mutating: AdmissionPlugin; readonly validating: AdmissionPlugin };
  /** What the configuration file says for a plugin; undefined: nothing. */
  readonly configuration: (plugin: string) => unknown;
  readonly options: PluginOptions;
}

/** What single flags say about plugins. */
export interface PluginOptions {
  readonly notReadySeconds: number;
  readonly unreachableSeconds: number;
  readonly boundTokens: boolean;
}

/** One admission plugin that the server knows. */
export interface PluginInfo {
  readonly name: string;
  /** Whether it is on unless a flag says otherwise. */
  readonly on: boolean;
  /** Why one should not turn it on, for the log. */
  readonly deprecated?: string;
  /** Why it cannot be turned on. */
  readonly unsupported?: string;
  /** Undefined: it has nothing to do. Throws what is wrong with its configuration. */
  readonly create: (setup: PluginSetup) => AdmissionPlugin | undefined;
}

const POLICIES = 'validatingadmissionpolicies';
const BINDINGS = 'validatingadmissionpolicybindings';
const FOR_TESTS = 'deprecated since 1.13: it has no use';

/**
 * All plugins in the order in which they are asked: kube-apiserver's. Those on by default are the specification's
 * (Versioning 5), and PodSecurity, which later releases have on as well.
 */
export const PLUGINS = [
  { name: 'AlwaysAdmit', on: false, deprecated: FOR_TESTS, create: () => alwaysAdmit },
  {
    name: 'NamespaceAutoProvision',
    on: false,
    create: ({ createNamespace, getNamespace }) => namespaceAutoProvision({ getNamespace, createNamespace }),
  },
  { name: 'NamespaceLifecycle', on: true, create: ({ getNamespace }) => namespaceLifecycle(getNamespace) },
  { name: 'NamespaceExists', on: false, create: ({ getNamespace }) => namespaceExists(getNamespace) },
  { name: 'SecurityContextDeny', on: false, create: () => securityContextDeny },
  { name: 'LimitPodHardAntiAffinityTopology', on: false, create: () => limitPodHardAntiAffinityTopology },
  {
    name: 'LimitRanger',
    on: true,
    create: ({ reader }) => limitRanger((namespace) => reader.listInTurns('limitranges', namespace)),
  },
  {
    name: 'ServiceAccount',
    on: true,
    create: ({ reader, options }) =>
      serviceAccountAdmission({
        getServiceAccount: (namespace, name) => reader.getLive('serviceaccounts', namespace, name),
        getSecret: (namespace, name) => reader.get('secrets', namespace, name),
        randomSuffix: () => nameSuffix(randomInt),
        boundTokens: options.boundTokens,
      }),
  },
  {
    name: 'NodeRestriction',
    on: false,
    create: ({ reader, getPod }) => nodeRestriction({ getPod, getNode: (name) => reader.getLive('minions', name) }),
  },
  { name: 'TaintNodesByCondition', on: true, create: () => taintNodesByCondition },
  { name: 'AlwaysPullImages', on: false, create: () => alwaysPullImages },
  {
    name: 'ImagePolicyWebhook',
    on: false,
    create: ({ configuration, imagePolicy }) => imagePolicy(configuration('ImagePolicyWebhook')),
  },
  {
    name: 'PodSecurity',
    on: true,
    create: ({ reader, configuration, getNamespace }) =>
      podSecurity(parsePodSecurity(configuration('PodSecurity')), {
        getNamespace,
        listPods: (namespace) => reader.each('pods', namespace),
      }),
  },
  {
    name: 'PodSecurityPolicy',
    on: false,
    unsupported: 'it is gone since 1.25: use PodSecurity',
    create: () => undefined,
  },
  {
    name: 'PodNodeSelector',
    on: false,
    create: ({ configuration, getNamespace }) =>
      podNodeSelector(parseNodeSelectors(configuration('PodNodeSelector')), getNamespace),
  },
  {
    name: 'Priority',
    on: true,
    create: ({ reader }) =>
      priorityAdmission({
        get: (name) => reader.get('priorityclasses', name),
        list: () => reader.list('priorityclasses'),
      }),
  },
  {
    name: 'DefaultTolerationSeconds',
    on: true,
    create: ({ options }) =>
      defaultTolerationSeconds({ notReady: options.notReadySeconds, unreachable: options.unreachableSeconds }),
  },
  {
    name: 'PodTolerationRestriction',
    on: false,
    create: ({ configuration, getNamespace }) =>
      podTolerationRestriction(parseTolerationDefaults(configuration('PodTolerationRestriction')), getNamespace),
  },
  {
    name: 'DenyEscalatingExec',
    on: false,
    deprecated: 'deprecated since 1.13: use PodSecurity',
    create: ({ getPod }) => denyEscalatingExec(getPod),
  },
  {
    name: 'DenyExecOnPrivileged',
    on: false,
    deprecated: 'deprecated since 1.13: use PodSecurity',
    create: ({ getPod }) => denyExecOnPrivileged(getPod),
  },
  {
    name: 'EventRateLimit',
    on: false,
    create: ({ configuration }) => eventRateLimit(parseEventRateLimit(configuration('EventRateLimit'))),
  },
  { name: 'ExtendedResourceToleration', on: false, create: () => extendedResourceToleration },
  {
    name: 'PersistentVolumeLabel',
    on: false,
    unsupported: 'it needs a cloud provider in the server',
    create: () => undefined,
  },
  {
    name: 'DefaultStorageClass',
    on: true,
    create: ({ reader }) => defaultStorageClass(() => reader.list('storageclasses')),
  },
  { name: 'StorageObjectInUseProtection', on: true, create: () => storageObjectInUseProtection },
  {
    name: 'OwnerReferencesPermissionEnforcement',
    on: false,
    create: ({ findResource, authorize }) => ownerReferencesPermissionEnforcement({ authorize, findResource }),
  },
  {
    name: 'PersistentVolumeClaimResize',
    on: true,
    create: ({ reader }) => persistentVolumeClaimResize((name) => reader.get('storageclasses', name)),
  },
  {
    name: 'RuntimeClass',
    on: true,
    create: ({ reader }) => runtimeClassAdmission((name) => reader.getLive('runtimeclasses', name)),
  },
  { name: 'CertificateApproval', on: true, create: ({ authorize }) => certificateApproval(authorize) },
  { name: 'CertificateSigning', on: true, create: ({ authorize }) => certificateSigning(authorize) },
  { name: 'CertificateSubjectRestriction', on: true, create: () => certificateSubjectRestriction },
  {
    name: 'DefaultIngressClass',
    on: true,
    create: ({ reader }) => defaultIngressClass(() => reader.list('ingressclasses')),
  },
  { name: 'DenyServiceExternalIPs', on: false, create: () => denyServiceExternalIPs },
  { name: 'MutatingAdmissionWebhook', on: true, create: ({ webhooks }) => webhooks?.mutating },
  {
    name: 'ValidatingAdmissionPolicy',
    on: true,
    create: ({ reader, findResource, versions, authorizer, policyMetrics, getNamespace }) =>
      validatingAdmissionPolicy({
        listPolicies: () => reader.list(POLICIES),
        listBindings: () => reader.list(BINDINGS),
        revision: () => reader.changed(POLICIES) + reader.changed(BINDINGS),
        getNamespace,
        params: policyParams(reader, findResource, versions),
        versions,
        authorize: authorizer,
        metrics: policyMetrics,
      }),
  },
  { name: 'ValidatingAdmissionWebhook', on: true, create: ({ webhooks }) => webhooks?.validating },
  // After everything that may still refuse: it is the only one that writes.
  {
    name: 'ResourceQuota',
    on: true,
    create: ({ quotas, configuration }) =>
      resourceQuotaAdmission(quotas, parseLimitedResources(configuration('ResourceQuota'))),
  },
  { name: 'AlwaysDeny', on: false, deprecated: FOR_TESTS, create: () => alwaysDeny },
] as const satisfies readonly PluginInfo[];

export type PluginName = (typeof PLUGINS)[number]['name'];
