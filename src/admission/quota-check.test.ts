import { admissionRequest, podRequest } from '../../test/fixtures/admission-request';
import { quotaEvaluator } from '../api/quota/evaluator';
import type { KubeObject } from '../api/object';
import { atOnce } from '../api/parts';
import { printResourceList } from '../api/quota/resource-list';
import { take } from '../api/steps/both-forms.fixture';
import { ROUNDS_BETWEEN_PAUSES } from '../api/steps/pace';
import { chargesOf, usedWith, type Charge } from './quota-check';

const evaluator = (resource: string) => quotaEvaluator({ group: '', resource }, () => 0)!;
const quota = (hard: Record<string, string>, spec: object = {}, used: object = hard): KubeObject => ({
  metadata: { name: 'q' },
  spec,
  status: { hard, used: Object.fromEntries(Object.keys(used).map((name) => [name, '0'])) },
});
const printed = ({ amounts }: Charge) => atOnce(printResourceList(amounts));
const charges = (spec: object, ...quotas: KubeObject[]) =>
  atOnce(chargesOf(podRequest(spec), evaluator('pods'), quotas)).map(printed);
const container = (requests: object, limits: object = {}) => ({ name: 'c', resources: { requests, limits } });

describe('what a request costs', () => {
  it('counts the sum of the containers, or the largest init container', () => {
    const hard = { pods: '9', 'requests.cpu': '9', 'limits.memory': '9Gi' };
    const spec = {
      containers: [container({ cpu: '100m' }, { memory: '1Mi' }), container({ cpu: '200m' }, { memory: '2Mi' })],
      initContainers: [container({ cpu: '900m' }, { memory: '1Mi' })],
    };
    expect(charges(spec, quota(hard))).toEqual(['limits.memory=3Mi,pods=1,requests.cpu=900m']);
  });

  it('asks each container to say what it needs of what is limited', () => {
    const spec = { containers: [container({ cpu: '1' }, { memory: '1' }), { name: 'd' }] };
    expect(() => charges(spec, quota({ 'requests.cpu': '1', 'limits.memory': '1' }))).toThrow(
      'failed quota: q: must specify limits.memory,requests.cpu',
    );
    expect(() => charges({}, quota({ cpu: '1', pods: '1' }))).toThrow('failed quota: q: must specify cpu');
  });

  it('is summed up once, however many ask for it', () => {
    const pods = evaluator('pods');
    const usage = jest.fn(pods.usage);
    const request = podRequest({ containers: [container({ cpu: '1' })] });
    const quotas = [quota({ cpu: '9' }), quota({ 'requests.cpu': '9', pods: '9' })];
    expect(atOnce(chargesOf(request, { ...pods, usage }, quotas)).map(printed)).toEqual([
      'cpu=1',
      'pods=1,requests.cpu=1',
    ]);
    expect(usage).toHaveBeenCalledTimes(1);
  });

  it('knows nothing before the controller has counted', () => {
    expect(() => charges({}, quota({ pods: '1' }, {}, {}))).toThrow('status unknown for quota: q, resources: pods');
    expect(charges({}, { metadata: { name: 'q' }, spec: { hard: { pods: '1' } } })).toEqual([]);
  });

  it.each([
    [{ scopes: ['BestEffort'] }, {}, 1],
    [{ scopes: ['NotBestEffort'] }, {}, 0],
    [{ scopes: ['BestEffort'] }, { containers: [container({ cpu: '1m' })] }, 0],
    [{ scopes: ['Terminating'] }, { activeDeadlineSeconds: 0 }, 1],
    [{ scopes: ['NotTerminating'] }, { activeDeadlineSeconds: 0 }, 0],
    [{ scopes: ['Terminating', 'BestEffort'] }, {}, 0],
    [
      { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['a'] }] } },
      { priorityClassName: 'a' },
      1,
    ],
    [
      { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['a'] }] } },
      { priorityClassName: 'b' },
      0,
    ],
    [
      { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'NotIn', values: ['a'] }] } },
      {},
      1,
    ],
    [{ scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'DoesNotExist' }] } }, {}, 1],
    [
      { scopes: ['CrossNamespacePodAffinity'] },
      { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ namespaces: ['other'] }] } } },
      1,
    ],
  ])('a quota with %j holds a pod with %j: %d', (scope, spec, held) => {
    expect(charges(spec, quota({ pods: '1' }, scope))).toHaveLength(held);
  });

  it('charges updates for what they add', () => {
    const service = (type: string): KubeObject => ({ metadata: { name: 's' }, spec: { type, ports: [{}, {}] } });
    const update = admissionRequest({
      resource: 'services',
      operation: 'UPDATE',
      object: service('NodePort'),
      oldObject: service('ClusterIP'),
    });
    const hard = { services: '1', 'services.nodeports': '5', 'services.loadbalancers': '1' };
    const [charge] = atOnce(chargesOf(update, evaluator('services'), [quota(hard)]));
    expect(charge && printed(charge)).toBe('services.nodeports=2');
    const back = { ...update, object: service('ClusterIP'), oldObject: service('NodePort') };
    expect(atOnce(chargesOf(back, evaluator('services'), [quota(hard)]))).toEqual([]);
  });

  it('counts claims by storage class', () => {
    const claim = admissionRequest({
      resource: 'persistentvolumeclaims',
      object: { metadata: {}, spec: { storageClassName: 'gold', resources: { requests: { storage: '2Gi' } } } },
    });
    const hard = { 'gold.storageclass.storage.k8s.io/requests.storage': '5Gi', 'requests.storage': '9Gi', pods: '1' };
    const [charge] = atOnce(chargesOf(claim, evaluator('persistentvolumeclaims'), [quota(hard)]));
    expect(charge && printed(charge)).toBe(
      'gold.storageclass.storage.k8s.io/requests.storage=2Gi,requests.storage=2Gi',
    );
  });

  describe('of thousands of resources or containers', () => {
    const COUNT = 2_000;
    const amounts = (prefix: string, amount: string) =>
      Object.fromEntries(Array.from({ length: COUNT }, (_, index) => [`${prefix}example.com/r${index}`, amount]));
    const large = podRequest({ containers: [container(amounts('', '1'), amounts('', '1'))] });
    const hard = amounts('requests.', '5');

    it('is added up a few at a time', () => {
      const { result, pauses } = take(chargesOf(large, evaluator('pods'), [quota({ pods: '5' })]));
      expect(result.map(printed)).toEqual(['pods=1']);
      expect(pauses).toBeGreaterThan((4 * COUNT) / ROUNDS_BETWEEN_PAUSES);
    });

    it('is compared with as many limits a few at a time', () => {
      const limits = quota(hard);
      const { result, pauses } = take(chargesOf(large, evaluator('pods'), [limits]));
      expect(result[0]?.amounts.size).toBe(COUNT);
      expect(pauses).toBeGreaterThan((7 * COUNT) / ROUNDS_BETWEEN_PAUSES);
      const after = take(usedWith(large, limits, new Map(), result[0]!));
      expect(after.result.size).toBe(COUNT);
      expect(after.pauses).toBeGreaterThan((3 * COUNT) / ROUNDS_BETWEEN_PAUSES);
    });

    it('is compared with nothing that the pod does not name', () => {
      const limits = quota({ ...hard, pods: '1' });
      const [charge] = atOnce(chargesOf(podRequest(), evaluator('pods'), [limits]));
      expect(take(usedWith(podRequest(), limits, new Map(), charge!)).pauses).toBeLessThan(2);
    });

    it.each(['BestEffort', 'NotBestEffort'])('is found to be %s a few at a time', (scopeName) => {
      const spec = { containers: Array.from({ length: COUNT }, () => container({})) };
      const scope = { scopeName, operator: 'Exists' };
      const { result, pauses } = take(evaluator('pods').matchesScope(podRequest(spec).object!, scope));
      expect(result).toBe(scopeName === 'BestEffort');
      expect(pauses).toBeGreaterThan((COUNT - ROUNDS_BETWEEN_PAUSES) / ROUNDS_BETWEEN_PAUSES);
    });

    it('is asked what it needs a few at a time', () => {
      const spec = { containers: Array.from({ length: COUNT }, () => container({ cpu: '1' })) };
      const { result, pauses } = take(evaluator('pods').missing(podRequest(spec).object!, ['cpu', 'memory', 'pods']));
      expect(result).toEqual(['memory']);
      expect(pauses).toBeGreaterThan((COUNT - ROUNDS_BETWEEN_PAUSES) / ROUNDS_BETWEEN_PAUSES);
    });
  });
});
