import { cachedTokenAuthenticator } from './token-cache';
import { failuresAsRefusals, tokenWebhookAuthenticator } from './token-webhook';

const authenticator = (reply: unknown, sent: unknown[] = []) =>
  failuresAsRefusals(
    tokenWebhookAuthenticator({
      version: 'v1',
      audiences: ['api'],
      post: async (review) => {
        sent.push(review);
        if (reply instanceof Error) throw reply;
        return reply;
      },
      failed: () => undefined,
    }),
  );
const jane = (status: object = {}) => ({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenReview',
  status: { authenticated: true, user: { username: 'jane', groups: null }, ...status },
});

describe('the token webhook', () => {
  it('is asked with a TokenReview and believed', async () => {
    const sent: unknown[] = [];
    await expect(authenticator(jane(), sent)('t', ['api'])).resolves.toEqual({
      user: { name: 'jane', groups: [] },
      audiences: ['api'],
    });
    expect(sent).toEqual([expect.objectContaining({ spec: { token: 't', audiences: ['api'] } })]);
  });

  it('may leave out its type, and name what audiences it confirms', async () => {
    const { status } = jane({ audiences: ['b', 'a'] });
    await expect(authenticator({ status })('t', ['a', 'x', 'b'])).resolves.toMatchObject({ audiences: ['b', 'a'] });
  });

  it.each<[string, unknown, unknown]>([
    ['says no', jane({ authenticated: false }), undefined],
    ['says no and why', jane({ authenticated: false, error: 'stolen' }), { refused: 'stolen' }],
    ['confirms other audiences', jane({ audiences: ['elsewhere'] }), undefined],
    ['has no status', { kind: 'TokenReview' }, undefined],
    [
      'answers in another version',
      { ...jane(), apiVersion: 'authentication.k8s.io/v1beta1' },
      { refused: expect.stringContaining('unknown conversion') },
    ],
    [
      'answers with another kind',
      { kind: 'Status', apiVersion: 'v1' },
      { refused: expect.stringContaining('unknown conversion') },
    ],
    ['answers nothing', null, { refused: 'the reply is not an object' }],
    ['cannot be asked', new Error('EOF'), { refused: 'EOF' }],
  ])('that %s proves nothing', async (_, reply, result) => {
    expect(await authenticator(reply)('t', ['api'])).toEqual(result);
  });

  it('that could not be asked is asked again, whatever is remembered of its answers', async () => {
    const replies: unknown[] = [new Error('EOF'), jane()];
    const ask = tokenWebhookAuthenticator({
      version: 'v1',
      audiences: ['api'],
      post: async () => {
        const reply = replies.shift();
        if (reply instanceof Error) throw reply;
        return reply;
      },
      failed: () => undefined,
    });
    const ttls = { successTtlMs: 10, failureTtlMs: 10, now: () => 0 };
    const authenticate = failuresAsRefusals(cachedTokenAuthenticator(ask, ttls));
    await expect(authenticate('t', ['api'])).resolves.toEqual({ refused: 'EOF' });
    await expect(authenticate('t', ['api'])).resolves.toHaveProperty('user');
    await expect(authenticate('t', ['api'])).resolves.toHaveProperty('user');
  });
});
