import { admissionOutcome, admissionRequest, podRequest } from '../../test/fixtures/admission-request';
import type { Steps } from '../api/parts';
import { take } from '../api/steps/both-forms.fixture';
import { ROUNDS_BETWEEN_PAUSES } from '../api/steps/pace';
import { admissionChain } from './chain';
import { limitRanger } from './limit-ranger';

const chainFor = (...ranges: object[]) =>
  admissionChain([limitRanger(() => ranges.map((limit) => ({ metadata: { name: 'r' }, spec: { limits: [limit] } })))]);

const container = (name: string, resources: object = {}) => ({ name, image: 'i', resources });
const check = async (limit: object, spec: object) => {
  const outcome = await admissionOutcome(() => chainFor(limit).validate(podRequest(spec)));
  return outcome.replace('pods "p" is forbidden: ', '');
};

describe('LimitRanger', () => {
  it('sets what containers leave open and says so in an annotation', async () => {
    const chain = chainFor({
      type: 'Container',
      default: { cpu: '200m', memory: '1Gi' },
      defaultRequest: { cpu: '100m', memory: '512Mi' },
    });
    const pod = await chain.mutate(
      podRequest({
        containers: [container('c', { requests: { cpu: '50m' } })],
        initContainers: [container('i', { limits: { memory: '2Gi' }, requests: { memory: '2Gi' } })],
      }),
    );
    expect(pod?.metadata.annotations).toEqual({
      'kubernetes.io/limit-ranger':
        'LimitRanger plugin set: memory request for container c; cpu, memory limit for container c; ' +
        'cpu request for init container i; cpu limit for init container i',
    });
    expect(pod?.spec).toMatchObject({
      containers: [
        { resources: { requests: { cpu: '50m', memory: '512Mi' }, limits: { cpu: '200m', memory: '1Gi' } } },
      ],
      initContainers: [{ resources: { requests: { cpu: '100m', memory: '2Gi' }, limits: { cpu: '200m' } } }],
    });
  });

  it('leaves a pod alone that has nothing open, and every pod on update', async () => {
    const chain = chainFor({ type: 'Container', default: { cpu: '1' } });
    const full = podRequest({ containers: [container('c', { limits: { cpu: '2' } })] });
    expect(await chain.mutate(full)).toBe(full.object);
    const update = podRequest({}, { operation: 'UPDATE' });
    expect(await chain.mutate(update)).toBe(update.object);
  });

  const bounds = { type: 'Container', min: { cpu: '100m' }, max: { cpu: '500m' } };
  it.each([
    [
      { requests: { cpu: '50m' }, limits: { cpu: '500m' } },
      'minimum cpu usage per Container is 100m, but request is 50m',
    ],
    [
      { requests: { cpu: '200m' }, limits: { cpu: '600m' } },
      'maximum cpu usage per Container is 500m, but limit is 600m',
    ],
    [
      {},
      '[minimum cpu usage per Container is 100m.  No request is specified, ' +
        'maximum cpu usage per Container is 500m.  No limit is specified]',
    ],
    [{ requests: { cpu: '100m' }, limits: { cpu: '0.5' } }, 'admitted'],
  ])('checks the bounds of a container with %j', async (resources, expected) => {
    expect(await check(bounds, { containers: [container('c', resources)] })).toBe(expected);
  });

  it('sums the containers of a pod and takes the largest init container', async () => {
    const limit = { type: 'Pod', max: { cpu: '1' } };
    const cpu = (amount: string) => ({ limits: { cpu: amount }, requests: { cpu: amount } });
    expect(await check(limit, { containers: [container('a', cpu('600m')), container('b', cpu('600m'))] })).toBe(
      'maximum cpu usage per Pod is 1, but limit is 1200m',
    );
    expect(
      await check(limit, { containers: [container('a', cpu('100m'))], initContainers: [container('i', cpu('2'))] }),
    ).toBe('maximum cpu usage per Pod is 1, but limit is 2');
  });

  it('bounds the ratio of limit and request', async () => {
    const limit = { type: 'Container', maxLimitRequestRatio: { memory: '1500m' } };
    const memory = (request: string, most: string) => ({
      containers: [container('c', { requests: { memory: request }, limits: { memory: most } })],
    });
    expect(await check(limit, memory('1Gi', '2Gi'))).toBe(
      'memory max limit to request ratio per Container is 1500m, but provided ratio is 2.000000',
    );
    expect(await check(limit, memory('2Gi', '3Gi'))).toBe('admitted');
  });

  describe('with bounds and defaults for thousands of resources', () => {
    const COUNT = 2_000;
    const amounts = (amount: string) =>
      Object.fromEntries(Array.from({ length: COUNT }, (_, index) => [`example.com/r${index}`, amount]));
    /** How often others might have had their turn. */
    let pauses = 0;
    const takeSteps = async <Result>(steps: Steps<Result>): Promise<Result> => {
      const taken = take(steps);
      pauses += taken.pauses;
      return taken.result;
    };

    beforeEach(() => (pauses = 0));

    it('sets the defaults a few at a time', async () => {
      const chain = chainFor({ type: 'Container', default: amounts('2'), defaultRequest: amounts('1') });
      const pod = await chain.mutate(podRequest({ containers: [container('c')] }, { takeSteps }));
      expect(pod?.spec).toMatchObject({
        containers: [{ resources: { limits: amounts('2'), requests: amounts('1') } }],
      });
      expect(pauses).toBeGreaterThan(COUNT / ROUNDS_BETWEEN_PAUSES);
    });

    it('looks at many small ranges one at a time', async () => {
      const chain = chainFor(
        ...Array.from({ length: 300 }, () => ({ type: 'Container', default: { cpu: '1' }, max: { cpu: '2' } })),
      );
      const pod = await chain.mutate(podRequest({ containers: [container('c')] }, { takeSteps }));
      expect(pauses).toBeGreaterThanOrEqual(300);
      await chain.validate(podRequest({}, { takeSteps, object: pod }));
      expect(pauses).toBeGreaterThanOrEqual(600);
    });

    it.each(['Container', 'Pod'])('checks the bounds of a %s a few at a time', async (type) => {
      const chain = chainFor({ type, min: amounts('1'), max: amounts('2') });
      const resources = { limits: amounts('2'), requests: amounts('1') };
      await chain.validate(podRequest({ containers: [container('c', resources)] }, { takeSteps }));
      expect(pauses).toBeGreaterThan((4 * COUNT) / ROUNDS_BETWEEN_PAUSES);
      await expect(chain.validate(podRequest({ containers: [container('c')] }, { takeSteps }))).rejects.toThrow(
        `minimum example.com/r0 usage per ${type} is 1.  No request is specified`,
      );
    });
  });

  it('bounds the size of claims', async () => {
    const chain = chainFor({ type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '5Gi' } });
    const claim = (storage: string) =>
      chain.validate(
        admissionRequest({
          resource: 'persistentvolumeclaims',
          object: { metadata: { name: 'c' }, spec: { resources: { requests: { storage } } } },
        }),
      );
    await expect(claim('5Gi')).resolves.toBeUndefined();
    await expect(claim('500Mi')).rejects.toThrow(
      'minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 500Mi',
    );
    await expect(claim('6Gi')).rejects.toThrow(
      'maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 6Gi',
    );
  });
});
