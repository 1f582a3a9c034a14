import type { Attributes } from './attributes';
import { alwaysAllow, authorizeInOrder } from './modes';
import { webhookAuthorizer, type WebhookAuthorizerOptions } from './webhook';

const attributes: Attributes = {
  user: { name: 'alice', uid: 'u', groups: ['dev'], extra: { k: ['v'] } },
  verb: 'get',
  resourceRequest: true,
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: 'log',
  namespace: 'ns',
  name: 'p',
  path: '',
};

function peer(responses: unknown[], options: Partial<WebhookAuthorizerOptions> = {}) {
  const sent: unknown[] = [];
  let now = 1;
  const authorize = webhookAuthorizer({
    version: 'v1beta1',
    allowedTtlMs: 0,
    refusedTtlMs: 0,
    post: async (review) => {
      sent.push(review);
      const response = responses.length > 1 ? responses.shift() : responses[0];
      if (response instanceof Error) throw response;
      return response;
    },
    clock: () => now,
    ...options,
  });
  return { authorize, sent, advance: (milliseconds: number) => (now += milliseconds) };
}
const answer = (status: object, version = 'v1beta1') => ({
  apiVersion: `authorization.k8s.io/${version}`,
  kind: 'SubjectAccessReview',
  status,
});

describe('the authorization webhook', () => {
  it('is asked with all that is known, in its version', async () => {
    const { authorize, sent } = peer([answer({ allowed: true })]);
    await expect(authorize(attributes)).resolves.toEqual({ decision: 'allow', reason: '' });
    await authorize({ ...attributes, resourceRequest: false, path: '/x' });
    const user = { user: 'alice', group: ['dev'], extra: { k: ['v'] }, uid: 'u' };
    const resourceAttributes = {
      namespace: 'ns',
      verb: 'get',
      version: 'v1',
      resource: 'pods',
      subresource: 'log',
      name: 'p',
    };
    expect(sent).toEqual([
      expect.objectContaining({ spec: { resourceAttributes, ...user } }),
      expect.objectContaining({ spec: { nonResourceAttributes: { path: '/x', verb: 'get' }, ...user } }),
    ]);
    const v1 = peer([answer({}, 'v1')], { version: 'v1' });
    await v1.authorize(attributes);
    expect(v1.sent).toEqual([expect.objectContaining({ spec: expect.objectContaining({ groups: ['dev'] }) })]);
  });

  it.each<[unknown, object]>([
    [answer({ allowed: false, reason: 'closed' }), { decision: 'no-opinion', reason: 'closed' }],
    [answer({ denied: true, reason: 'never' }), { decision: 'deny', reason: 'never' }],
    [answer({ allowed: false, evaluationError: 'x' }), { decision: 'no-opinion', reason: '' }],
    [{}, { decision: 'no-opinion', reason: '' }],
    [
      answer({ allowed: true, denied: true }),
      {
        decision: 'no-opinion',
        reason: '',
        error: 'webhook subject access review returned both allow and deny response',
      },
    ],
    [
      answer({ allowed: true }, 'v1'),
      {
        decision: 'no-opinion',
        reason: '',
        error: 'converting (v1.SubjectAccessReview) to (v1beta1.SubjectAccessReview): unknown conversion',
      },
    ],
    ...(['allowed', 'denied', 'reason'] as const).map((name): [unknown, object] => [
      answer({ allowed: true, [name]: name === 'reason' ? 7 : 'false' }),
      {
        decision: 'no-opinion',
        reason: '',
        error: expect.stringContaining(`into field status.${name} of type`),
      },
    ]),
    [answer({ allowed: null, reason: null }), { decision: 'no-opinion', reason: '' }],
    [{ status: null }, { decision: 'no-opinion', reason: '' }],
    ['text', { decision: 'no-opinion', reason: '', error: 'the reply is not an object' }],
    [new Error('EOF'), { decision: 'no-opinion', reason: '', error: 'EOF' }],
  ])('that answers %j gives %j', async (response, expected) => {
    await expect(peer([response]).authorize(attributes)).resolves.toEqual(expected);
  });

  it('is believed for a while, permissions and refusals each for their own time', async () => {
    const ttls = { allowedTtlMs: 100, refusedTtlMs: 10 };
    const allowed = peer([answer({ allowed: true })], ttls);
    await allowed.authorize(attributes);
    allowed.advance(100);
    await allowed.authorize(attributes);
    expect(allowed.sent).toHaveLength(1);
    const refused = peer([answer({ allowed: false }), answer({ allowed: true })], ttls);
    await refused.authorize(attributes);
    refused.advance(11);
    await expect(refused.authorize(attributes)).resolves.toMatchObject({ decision: 'allow' });
  });

  it('that fails is asked again, and does not stand in the way of others', async () => {
    const failing = peer([new Error('EOF'), answer({ allowed: true })], { allowedTtlMs: 100, refusedTtlMs: 100 });
    await expect(authorizeInOrder([failing.authorize])(attributes)).resolves.toMatchObject({ error: 'EOF' });
    await expect(failing.authorize(attributes)).resolves.toMatchObject({ decision: 'allow' });
    const down = peer([new Error('EOF')]);
    await expect(authorizeInOrder([down.authorize, alwaysAllow])(attributes)).resolves.toMatchObject({
      decision: 'allow',
    });
  });

  it('that denies ends the matter', async () => {
    const denying = peer([answer({ denied: true })]);
    await expect(authorizeInOrder([denying.authorize, alwaysAllow])(attributes)).resolves.toMatchObject({
      decision: 'deny',
    });
  });
});
