import type { FieldError } from '../errors/field-error';
import { defaultPod } from '../kinds/core/pod-defaults';
import type { KubeObject } from '../object';
import { take } from '../steps/both-forms.fixture';
import { counted, mostReads } from '../steps/counted.fixture';
import { checkInParts } from './check-each';
import { validateSigningRequest } from './certificate-signing-request';
import { validateAdmissionPolicy } from './admission-policy';
import { validateCsiDriver, validateCsiNode } from './csi';
import { validateConfigMapUpdate } from './config-map';
import { validateDaemonSet } from './daemon-set';
import { validateDeployment, validateDeploymentUpdate } from './deployment';
import { validateFlowControlStatus, validateFlowSchema } from './flow-schema';
import { validateJob } from './job';
import { validateLimitRange } from './limit-range';
import { validateNode } from './node';
import { validatePersistentVolume } from './persistent-volume';
import { validatePersistentVolumeClaimUpdate } from './persistent-volume-claim';
import { validatePod } from './pod';
import { validatePodSecurityPolicy } from './pod-security-policy';
import { validatePodUpdate } from './pod-update';
import { validateNoCrossNamespaceScope, validateResourceQuota, validateResourceQuotaUpdate } from './resource-quota';
import { validateRole } from './rbac';
import { validateReplicaSetUpdate } from './replica-set';
import { validateReplicationController } from './replication-controller';
import { validateRuntimeClass } from './runtime-class';
import { validateService } from './service';
import { validateServiceUpdate } from './service-update';
import { validateStatefulSet, validateStatefulSetUpdate } from './stateful-set';
import { validateStorageClass } from './storage-class';
import { validateWebhookConfiguration } from './webhook-configuration';

const COUNT = 1_000;

function numbered<Item>(make: (index: number) => Item): readonly Item[] {
  return Array.from({ length: COUNT }, (_, index) => make(index));
}

function byNumber<Item>(make: (index: number) => Item): Readonly<Record<string, Item>> {
  return Object.fromEntries(numbered((index) => [`example.com/r${index}`, make(index)]));
}

function pod(spec: object): KubeObject {
  const containers = [{ name: 'c', image: 'i:1', terminationMessagePolicy: 'File', imagePullPolicy: 'IfNotPresent' }];
  return defaultPod({
    metadata: { name: 'p' },
    spec: { containers, restartPolicy: 'Always', dnsPolicy: 'ClusterFirst', ...spec },
    status: {},
  });
}

const hook = (index: number) => ({
  name: `h${index % 900}.example.com`,
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  clientConfig: { url: 'https://127.0.0.1/' },
});
const toleration = (index: number) => ({ key: `k${index}`, operator: 'Exists' });
const quota = { metadata: {}, spec: { hard: byNumber((index) => (index === 7 ? '-1' : '1')) } } as KubeObject;
const scopes = numbered(() => 'BestEffort');
const service = {
  metadata: { name: 's' },
  spec: {
    type: 'ClusterIP',
    sessionAffinity: 'None',
    clusterIP: 'None',
    clusterIPs: ['None'],
    ports: numbered((index) => ({ name: `p${index % 900}`, protocol: 'TCP', port: index + 1, targetPort: 80 })),
  },
} as KubeObject;
const names = numbered((index) => `n${index % 900}`);
const flexVolume = { driver: 'd', options: byNumber(() => 'a') };
const ranges = numbered((index) => `10.${index % 250}.0.0/16`);
const paths = numbered((index) => ({ pathPrefix: `/${index}` }));
const expressions = numbered((index) => ({ key: `k${index % 900}`, values: ['a'] }));
const withScopes = { metadata: {}, spec: { scopes: numbered(() => 'Terminating') } } as KubeObject;

function serviceWith(spec: object): KubeObject {
  return { metadata: { name: 's' }, spec: { type: 'ClusterIP', sessionAffinity: 'None', ...spec } };
}

function hookWith(fields: object): KubeObject {
  return { metadata: {}, webhooks: [{ ...hook(0), ...fields }] };
}

function policyWith(spec: object): KubeObject {
  return {
    metadata: {},
    spec: { requiredDropCapabilities: ['n1'], forbiddenSysctls: names.slice(0, 9), ...spec },
  };
}

function flowSchemaWith(rule: object): KubeObject {
  return { metadata: {}, spec: { rules: [{ nonResourceRules: [{ verbs: ['get'], ...rule }] }] } };
}

function csiNodeWith(driver: object, count = 1): KubeObject {
  const drivers = Array.from({ length: count }, (_, index) => ({ name: `d${index}`, nodeID: 'n', ...driver }));
  return { metadata: { name: 'n' }, spec: { drivers } };
}

function storageClassWith(requirement: object): KubeObject {
  return { metadata: {}, allowedTopologies: [{ matchLabelExpressions: [requirement] }] };
}

function deploymentWith(matchLabels: object, matchExpressions: readonly object[]): KubeObject {
  const template = { metadata: { labels: { a: 'b' } }, spec: { restartPolicy: 'Always' } };
  return {
    metadata: { name: 'd' },
    spec: { selector: { matchLabels, matchExpressions }, template, manualSelector: true },
  };
}

function controllerWith(selector: object): KubeObject {
  return { metadata: {}, spec: { selector, template: { metadata: { labels: { a: 'b' } }, spec: {} } } };
}

function podWith(resources: object): KubeObject {
  return pod({ containers: [{ name: 'c', image: 'i:1', resources }] });
}

function clusterRoleWith(selector: object): KubeObject {
  return { metadata: {}, aggregationRule: { clusterRoleSelectors: [selector] } };
}

function limitRangeWith(item: object): KubeObject {
  return { metadata: {}, spec: { limits: [{ type: 'Container', ...item }] } };
}

function admissionPolicyWith(rule: object): KubeObject {
  return { metadata: {}, spec: { matchConstraints: { resourceRules: [rule] } } };
}

const long = Array.from({ length: 8 * COUNT }, (_, index) => `${'n'.repeat(50)}${index}`);
const claim = {
  metadata: { name: 'c' },
  spec: { accessModes: ['ReadWriteOnce'], selector: { matchLabels: byNumber(() => 'a') } },
} as KubeObject;
const annotated = { ...pod({}), metadata: { name: 'p', annotations: byNumber(() => 'a') } };
const selecting = deploymentWith(
  byNumber(() => 'a'),
  [],
);
const loadBalancerSourceRanges = long.map((_, index) => `1.0.0.0/${index % 32}`);
const balancer = serviceWith({ type: 'LoadBalancer', loadBalancerSourceRanges });
const capacity = Object.fromEntries(long.map((name) => [name, '1']));
const requirements = long.map((key, index) => ({ key, operator: 'In', values: [index === 7 ? '-' : 'a'] }));
const some = { 'example.com/r5': '1' };
const tokenRequests = numbered((index) => ({ audience: `a${index % 900}` }));
const conditions = numbered((index) => ({ name: `n${index % 900}`, expression: 'true' }));
const types = numbered((index) => ({ type: `t${index % 900}` }));
const auditAnnotations = long.map((key) => ({ key: key.slice(-6), valueExpression: `"${key}"` }));
const taints = numbered((index) => ({ key: `k${index % 900}`, operator: 'Exists' }));

const tolerations = pod({ tolerations: numbered(toleration) });
const other = pod({ tolerations: numbered((index) => toleration(index + 1)) });
const selector = pod({ nodeSelector: byNumber(() => 'a') });
const otherSelector = pod({ nodeSelector: byNumber((index) => (index === 999 ? 'b' : 'a')) });

describe('what may be long is looked at one after another, with the same outcome', () => {
  it.each<[string, steps: number, () => readonly FieldError[]]>([
    ['webhooks', COUNT, () => validateWebhookConfiguration({ metadata: {}, webhooks: numbered(hook) })],
    ['amounts of a quota', COUNT, () => validateResourceQuota(quota)],
    ['amounts of a changed quota', 2 * COUNT, () => validateResourceQuotaUpdate(quota, quota)],
    ['ports of a service', 3 * COUNT, () => validateService(service)],
    ['ports of a changed service', 3 * COUNT, () => validateServiceUpdate(service, service)],
    [
      'addresses of a service',
      COUNT,
      () => validateService(serviceWith({ clusterIPs: numbered((index) => `10.0.${index % 250}.1`) })),
    ],
    ['families of a service', COUNT, () => validateService(serviceWith({ ipFamilies: numbered(() => 'IPv4') }))],
    ['versions of a review', COUNT, () => validateWebhookConfiguration(hookWith({ admissionReviewVersions: names }))],
    ['operations of a rule', COUNT, () => validateWebhookConfiguration(hookWith({ rules: [{ operations: names }] }))],
    ['resources of a rule', COUNT, () => validateWebhookConfiguration(hookWith({ rules: [{ resources: names }] }))],
    [
      'usages of a certificate',
      2 * COUNT,
      () => validateSigningRequest({ metadata: {}, spec: { usages: numbered(() => 'any') } }),
    ],
    [
      'volumes of a policy',
      COUNT,
      () => validatePodSecurityPolicy({ metadata: {}, spec: { volumes: numbered(() => 'secret') } }),
    ],
    ['sysctls of a policy', 2 * COUNT, () => validatePodSecurityPolicy(policyWith({ allowedUnsafeSysctls: names }))],
    ['capabilities of a policy', COUNT, () => validatePodSecurityPolicy(policyWith({ allowedCapabilities: names }))],
    ['host paths of a policy', COUNT, () => validatePodSecurityPolicy(policyWith({ allowedHostPaths: paths }))],
    ['modes of a volume', COUNT, () => validatePersistentVolume({ metadata: {}, spec: { accessModes: names } })],
    ['URLs of a flow schema', COUNT, () => validateFlowSchema(flowSchemaWith({ nonResourceURLs: names }))],
    ['ranges of a node', COUNT, () => validateNode({ metadata: { name: 'n' }, spec: { podCIDRs: ranges } })],
    ['topology keys of a node', COUNT, () => validateCsiNode(csiNodeWith({ topologyKeys: names }))],
    ['drivers of a node', COUNT, () => validateCsiNode(csiNodeWith({}, COUNT))],
    ['addresses of name servers', COUNT, () => validatePod(pod({ dnsConfig: { nameservers: names } }))],
    ['search paths', COUNT, () => validatePod(pod({ dnsConfig: { searches: names } }))],
    ['values of a topology', COUNT, () => validateStorageClass(storageClassWith({ key: 'k', values: names }))],
    ['options of a volume', COUNT, () => validatePod(pod({ volumes: [{ name: 'v', flexVolume }] }))],
    ['scopes that are not known', COUNT, () => validateNoCrossNamespaceScope(withScopes)],
    ['tolerations of a changed pod', 4 * COUNT, () => validatePodUpdate(tolerations, tolerations)],
    ['tolerations that have become others', 3 * COUNT, () => validatePodUpdate(other, tolerations)],
  ])('%s', (_, steps, check) => {
    const { result, pauses } = take(checkInParts(check));
    expect(result).toEqual(check());
    expect(pauses).toBeGreaterThanOrEqual(steps);
  });

  it('scopes and what they cannot count, until there is more than can be told', () => {
    const many = { metadata: {}, spec: { scopes, hard: { ...byNumber(() => '1'), 'hugepages-1Mi': '1' } } };
    const { result, pauses } = take(checkInParts(() => validateResourceQuota(many as KubeObject)));
    expect(result.length).toBeLessThan(scopes.length);
    expect(pauses).toBeGreaterThan(2 * COUNT);
  });

  it('scopes that are named again and again, without looking at all that is counted for each', () => {
    const terminating = numbered(() => 'Terminating');
    const many = { metadata: {}, spec: { scopes: terminating, hard: byNumber(() => '1') } } as KubeObject;
    const { result, pauses } = take(checkInParts(() => validateResourceQuota(many)));
    expect(result).toEqual([]);
    expect(pauses).toBeGreaterThanOrEqual(3 * COUNT);
    expect(pauses).toBeLessThan(10 * COUNT);
    const hard = { ...byNumber(() => '1'), cpu: '1', services: '1', 'hugepages-1Mi': '1' };
    const names = ['Terminating', 'BestEffort', 'Terminating', 'BestEffort'];
    const matchExpressions = names.map((scopeName) => ({ scopeName, operator: 'Exists' }));
    const few = { metadata: {}, spec: { scopes: names, scopeSelector: { matchExpressions }, hard } } as KubeObject;
    const found = take(checkInParts(() => validateResourceQuota(few))).result;
    expect(found).toEqual(validateResourceQuota(few));
    expect(found).toHaveLength(2 * (2 + 3 + 2 + 3));
  });

  it.each<[string, KubeObject, (object: KubeObject) => readonly FieldError[]]>([
    [
      'labels that a deployment looks for',
      deploymentWith(
        byNumber(() => 'a'),
        [],
      ),
      validateDeployment,
    ],
    [
      'labels that a stateful set looks for',
      deploymentWith(
        byNumber(() => 'a'),
        [],
      ),
      validateStatefulSet,
    ],
    [
      'labels that a daemon set looks for',
      deploymentWith(
        byNumber(() => 'a'),
        [],
      ),
      validateDaemonSet,
    ],
    [
      'labels that a job looks for',
      deploymentWith(
        byNumber(() => 'a'),
        [],
      ),
      validateJob,
    ],
    ['labels of roles', clusterRoleWith({ matchLabels: byNumber(() => 'a') }), validateRole({ namespaced: false })],
    ['least amounts of a limit range', limitRangeWith({ min: byNumber(() => '1') }), validateLimitRange],
    ['amounts that contradict each other', limitRangeWith({ max: some, min: byNumber(() => '2') }), validateLimitRange],
    ['topology keys of a node', csiNodeWith({ topologyKeys: names }), validateCsiNode],
    ['limits of a container', podWith({ limits: byNumber(() => '1') }), validatePod],
    ['requests of a container', podWith({ requests: byNumber(() => '1') }), validatePod],
    ['overhead of a pod', pod({ overhead: byNumber(() => '1') }), validatePod],
    ['annotations of a pod', annotated, validatePod],
    ['resources of a node', { metadata: {}, status: { capacity: byNumber(() => '1') } }, validateNode],
    ['labels that a controller looks for', controllerWith(byNumber(() => 'a')), validateReplicationController],
    ['drivers of a node', csiNodeWith({}, COUNT), validateCsiNode],
    ['audiences of a driver', { metadata: {}, spec: { tokenRequests } }, validateCsiDriver],
    ['conditions of a webhook', hookWith({ matchConditions: conditions }), validateWebhookConfiguration],
    ['names of webhooks', { metadata: {}, webhooks: numbered(hook) }, validateWebhookConfiguration],
    ['conditions of a flow schema', { metadata: {}, status: { conditions: types } }, validateFlowControlStatus],
    ['names in a policy’s rule', admissionPolicyWith({ resourceNames: names }), validateAdmissionPolicy],
    ['tolerations of a runtime class', { metadata: {}, scheduling: { tolerations: taints } }, validateRuntimeClass],
  ])('%s, a few at a time', (_, object, check) => {
    const { result } = take(checkInParts(() => check(object)));
    expect(result).toEqual(check(object));
    expect(mostReads(checkInParts(() => check(counted(object))))).toBeLessThan(COUNT);
  });

  it.each<[string, KubeObject, (object: KubeObject) => readonly FieldError[]]>([
    ['what a deployment asks of labels', deploymentWith({}, requirements), validateDeployment],
    [
      'ranges of a node',
      { metadata: {}, spec: { podCIDRs: long.map((_, index) => `1.0.0.0/${index}`) } },
      validateNode,
    ],
    ['topology keys, one of which is none', csiNodeWith({ topologyKeys: [...long, '/'] }), validateCsiNode],
    ['ranges of a load balancer', balancer, validateService],
    ['amounts of a volume', { metadata: {}, spec: { capacity } }, validatePersistentVolume],
    ['annotations of a policy', { metadata: {}, spec: { auditAnnotations } }, validateAdmissionPolicy],
  ])('%s, a few at a time, and of all the beginning for a message', (_, object, check) => {
    const { result } = take(checkInParts(() => check(object)));
    expect(check(object).slice(0, result.length)).toEqual(result);
    expect(mostReads(checkInParts(() => check(counted(object))))).toBeLessThan(long.length);
  });

  it.each<[string, KubeObject, (object: KubeObject, old: KubeObject) => readonly FieldError[]]>([
    ['data of an immutable map', { metadata: {}, immutable: true, data: byNumber(() => 'a') }, validateConfigMapUpdate],
    ['the selector of a deployment', selecting, validateDeploymentUpdate],
    ['the selector of a replica set', selecting, validateReplicaSetUpdate],
    ['the selector of a stateful set', selecting, validateStatefulSetUpdate],
    ['the selector of a claim', claim, validatePersistentVolumeClaimUpdate],
    ['annotations of a changed pod', annotated, validatePodUpdate],
  ])('%s against what it was, a few at a time', (_, object, check) => {
    const changed = JSON.parse(JSON.stringify(object).replace('r7":"a"', 'r7":"b"')) as KubeObject;
    const { result } = take(checkInParts(() => check(changed, object)));
    expect(result).toEqual(check(changed, object));
    expect(mostReads(checkInParts(() => check(counted(changed), counted(object))))).toBeLessThan(3 * COUNT);
    expect(mostReads(checkInParts(() => check(counted(object), counted(object))))).toBeLessThan(COUNT);
  });

  it('containers of a pod without ephemeral ones, whose names nobody asks for then', () => {
    const containers = numbered((index) => ({
      ...(pod({})['spec'] as { containers: readonly object[] }).containers[0],
      name: `c${index}`,
    }));
    const check = (spec: object) => mostReads(checkInParts(() => validatePod(counted(pod(spec)))));
    const ephemeralContainers = [{ name: 'e', image: 'i:1' }];
    expect(check({ containers, ephemeralContainers }) - check({ containers })).toBeGreaterThanOrEqual(COUNT);
  });

  it('expressions of a topology', () => {
    const stored = { metadata: {}, allowedTopologies: [{ matchLabelExpressions: expressions }] } as KubeObject;
    const check = (): readonly FieldError[] => validateStorageClass(stored);
    expect(take(checkInParts(check)).result).toEqual(check());
    expect(mostReads(checkInParts(() => validateStorageClass(counted(stored))))).toBeLessThan(COUNT);
  });

  it('a map of a pod’s spec, and the text of its change', () => {
    const check = (): readonly FieldError[] => validatePodUpdate(otherSelector, selector);
    const { result } = take(checkInParts(check));
    expect(result).toEqual(check());
    expect(result).toHaveLength(1);
    const most = mostReads(checkInParts(() => validatePodUpdate(counted(otherSelector), counted(selector))));
    expect(most).toBeLessThan(COUNT);
  });
});

test('sysctls overlap with those that they or their patterns begin like', () => {
  const beginnings = ['a', 'a.b', 'a.bc', 'b', 'kernel.shm', 'kernel.'];
  const sysctls = beginnings.flatMap((beginning) => [beginning, `${beginning}*`]);
  const covers = (pattern: string, name: string) => pattern.endsWith('*') && name.startsWith(pattern.slice(0, -1));
  for (const allowed of sysctls) {
    for (const forbidden of sysctls) {
      const found = validatePodSecurityPolicy(
        policyWith({ allowedUnsafeSysctls: [allowed], forbiddenSysctls: ['z.other', forbidden] }),
      ).filter(({ message }) => message.includes('overlaps'));
      const overlaps = allowed === forbidden || covers(allowed, forbidden) || covers(forbidden, allowed);
      expect([allowed, forbidden, found.length]).toEqual([allowed, forbidden, overlaps ? 1 : 0]);
    }
  }
});
