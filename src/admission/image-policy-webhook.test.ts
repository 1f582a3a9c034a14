import { admissionOutcome, podRequest } from '../../test/fixtures/admission-request';
import { admissionChain } from './chain';
import { imagePolicyWebhook, parseImagePolicy, type ImagePolicy } from './image-policy-webhook';

const policy: ImagePolicy = {
  backendConfigFile: 'kubeconfig',
  allowTtlMs: 1000,
  denyTtlMs: 100,
  retryBackoffMs: 10,
  defaultAllow: false,
};
const response = (status: object) => ({ kind: 'ImageReview', apiVersion: 'imagepolicy.k8s.io/v1alpha1', status });

function backend(response: () => unknown, changes: Partial<ImagePolicy> = {}) {
  const reviews: unknown[] = [];
  const annotations: Record<string, string> = {};
  const clock = { now: 1 };
  const chain = admissionChain([
    imagePolicyWebhook(
      { ...policy, ...changes },
      {
        post: async (review) => {
          reviews.push(review);
          return response();
        },
        timeoutMs: 1000,
        now: () => clock.now,
        sleep: async (milliseconds) => {
          clock.now += milliseconds;
        },
      },
    ),
  ]);
  const ask = async () => {
    const request = podRequest({}, { annotate: (key, value) => (annotations[key] = value) });
    const outcome = await admissionOutcome(() => chain.validate(request));
    return outcome.replace('pods "p" is forbidden: ', '');
  };
  return { ask, reviews, annotations, clock };
}

describe('ImagePolicyWebhook', () => {
  it('does as the backend says, and remembers it for a while', async () => {
    const { ask, reviews, annotations, clock } = backend(() =>
      response({ allowed: true, auditAnnotations: { a: 'b' } }),
    );
    expect([await ask(), await ask()]).toEqual(['admitted', 'admitted']);
    expect(reviews).toEqual([
      expect.objectContaining({ kind: 'ImageReview', spec: { containers: [{ image: 'i' }], namespace: 'ns' } }),
    ]);
    expect(annotations).toEqual({ 'imagepolicywebhook.image-policy.k8s.io/a': 'b' });
    clock.now = 1002;
    await ask();
    expect(reviews).toHaveLength(2);
  });

  it.each([
    [{ allowed: false, reason: 'old' }, 'image policy webhook backend denied one or more images: old'],
    [{ allowed: false }, 'one or more images rejected by webhook backend'],
    [undefined, 'one or more images rejected by webhook backend'],
  ])('refuses on %j', async (status, expected) => {
    expect(await backend(() => ({ ...response({}), status })).ask()).toBe(expected);
  });

  it.each([
    ['down', () => Promise.reject(new Error('connection refused'))],
    ['no review', () => ({ kind: 'Pod', apiVersion: 'v1' })],
    ['another version', () => ({ kind: 'ImageReview', apiVersion: 'v1', status: { allowed: true } })],
    ['a text for a truth', () => response({ allowed: 'yes' })],
    ['null', () => null],
  ])('leaves the decision to the configuration when the backend is or says: %s', async (_case, reply) => {
    expect(await backend(reply).ask()).not.toBe('admitted');
    const open = backend(reply, { defaultAllow: true });
    expect(await open.ask()).toBe('admitted');
    expect(open.annotations).toMatchObject({ 'imagepolicywebhook.image-policy.k8s.io/failed-open': 'true' });
  });

  it('tries again a few times, within its time', async () => {
    let failures = 2;
    const flaky = backend(() => {
      if (failures-- > 0) throw new Error('reset');
      return response({ allowed: true });
    });
    expect(await flaky.ask()).toBe('admitted');
    expect(flaky.reviews).toHaveLength(3);
    const down = backend(() => Promise.reject(new Error('reset')), { retryBackoffMs: 400 });
    expect(await down.ask()).toBe('reset');
    expect(down.reviews).toHaveLength(2);
  });

  it('reads its configuration', () => {
    expect(parseImagePolicy({ imagePolicy: { kubeConfigFile: 'k', allowTTL: 50, defaultAllow: true } })).toEqual({
      backendConfigFile: 'k',
      allowTtlMs: 50_000,
      denyTtlMs: 30_000,
      retryBackoffMs: 500,
      defaultAllow: true,
    });
    expect(() => parseImagePolicy({})).toThrow('imagePolicy: Required value');
    expect(() => parseImagePolicy({ imagePolicy: { kubeConfigFile: 'k', denyTTL: 9999 } })).toThrow(
      'imagePolicy.denyTTL',
    );
  });
});
