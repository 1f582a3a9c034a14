import type { FieldError } from '../errors/field-error';
import { defaultPod } from '../kinds/core/pod-defaults';
import type { KubeObject } from '../object';
import { take } from '../steps/both-forms.fixture';
import { counted, mostReads } from '../steps/counted.fixture';
import { checkInParts } from './check-each';
import { validatePodUpdate } from './pod-update';
import { validateResourceQuota, validateResourceQuotaUpdate } from './resource-quota';
import { validateService } from './service';
import { validateServiceUpdate } from './service-update';
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

  it('a map of a pod’s spec, and the text of its change', () => {
    const check = (): readonly FieldError[] => validatePodUpdate(otherSelector, selector);
    const { result } = take(checkInParts(check));
    expect(result).toEqual(check());
    expect(result).toHaveLength(1);
    const most = mostReads(checkInParts(() => validatePodUpdate(counted(otherSelector), counted(selector))));
    expect(most).toBeLessThan(COUNT);
  });
});
