import { cachedTokenAuthenticator } from './token-cache';
import { failuresAsRefusals, tokenWebhookAuthenticator } from './token-webhook';

const authenticator = (response: unknown, sent: unknown[] = []) =>
  failuresAsRefusals(
    tokenWebhookAuthenticator({
      version: 'v1',
      audiences: ['api'],
      post: async (review) => {
        sent.push(review);
        if (response instanceof Error) throw response;
        return response;
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
    await expect(authenticator(jane(), sent)('opaque-token', ['api'])).resolves.toEqual({
      user: { name: 'jane', groups: [] },
      audiences: ['api'],
    });
    expect(sent).toEqual([expect.objectContaining({ spec: { token: 'opaque-token', audiences: ['api'] } })]);
  });

  it('may leave out its type, and name what audiences it confirms', async () => {
    const { status } = jane({ audiences: ['b', 'a'] });
    await expect(authenticator({ status })('opaque-token', ['a', 'x', 'b'])).resolves.toMatchObject({
      audiences: ['b', 'a'],
    });
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
    [
      'names more groups than a request can go through',
      jane({ user: { username: 'jane', groups: new Array(10_001).fill('g') } }),
      { refused: 'the user has more than 10000 groups' },
    ],
    [
      'says more of the user than may be remembered',
      jane({ user: { username: 'jane', extra: { a: new Array(10_000).fill('v') } } }),
      { refused: 'the user has more than 10000 extra values' },
    ],
    ...[
      jane({ authenticated: 'true' }),
      jane({ user: 'jane' }),
      jane({ user: { username: 7 } }),
      jane({ user: { username: 'jane', groups: 'system:masters' } }),
      jane({ user: { username: 'jane', groups: [['a']] } }),
      jane({ user: { username: 'jane', extra: { scopes: 'all' } } }),
      jane({ audiences: 'api' }),
    ].map((response): [string, unknown, unknown] => [
      `answers with other types: ${JSON.stringify(response.status)}`,
      response,
      { refused: expect.stringContaining('cannot unmarshal') },
    ]),
    ['answers nothing', null, { refused: 'the reply is not an object' }],
    ['cannot be asked', new Error('EOF'), { refused: 'EOF' }],
  ])('that %s proves nothing', async (_, reply, result) => {
    expect(await authenticator(reply)('opaque-token', ['api'])).toEqual(result);
  });

  it('that could not be asked is asked again, whatever is remembered of its answers', async () => {
    const responses: unknown[] = [new Error('EOF'), jane()];
    const ask = tokenWebhookAuthenticator({
      version: 'v1',
      audiences: ['api'],
      post: async () => {
        const reply = responses.shift();
        if (reply instanceof Error) throw reply;
        return reply;
      },
      failed: () => undefined,
    });
    const ttls = { successTtlMs: 10, failureTtlMs: 10, clock: () => 0 };
    const authenticate = failuresAsRefusals(cachedTokenAuthenticator(ask, ttls));
    await expect(authenticate('opaque-token', ['api'])).resolves.toEqual({ refused: 'EOF' });
    await expect(authenticate('opaque-token', ['api'])).resolves.toHaveProperty('user');
    await expect(authenticate('opaque-token', ['api'])).resolves.toHaveProperty('user');
  });

  it('that sends the token back does not get it into the log', async () => {
    const told: string[] = [];
    const ask = tokenWebhookAuthenticator({
      version: 'v1',
      audiences: [],
      post: async (review) => {
        throw new Error(`an error on the server (${JSON.stringify(review)})`);
      },
      failed: ({ message }) => told.push(message),
    });
    await expect(ask('stolen-token', [])).rejects.toThrow('[hidden]');
    expect(told).toEqual([expect.not.stringContaining('stolen-token')]);
  });
});
