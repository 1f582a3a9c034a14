import { bootstrapTokenAuthenticator } from './bootstrap-token';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const good: Readonly<Record<string, string>> = {
  'token-id': 'abcdef',
  'token-secret': '0123456789abcdef',
  'usage-bootstrap-authentication': 'true',
};
const TYPE = 'bootstrap.kubernetes.io/token';

function authenticator(data: Readonly<Record<string, string | undefined>>, type = TYPE, metadata: object = {}) {
  const encoded = Object.entries(data).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, Buffer.from(value).toString('base64')]],
  );
  return bootstrapTokenAuthenticator({
    getSecret: async (name) =>
      name === 'bootstrap-token-abcdef' ? { metadata, type, data: Object.fromEntries(encoded) } : undefined,
    now: () => NOW,
  });
}

describe('a bootstrap token', () => {
  it('is the user of its id', async () => {
    await expect(authenticator(good)('abcdef.0123456789abcdef', [])).resolves.toEqual({
      user: { name: 'system:bootstrap:abcdef', groups: ['system:bootstrappers'] },
    });
  });

  it('brings the extra groups of its secret, sorted', async () => {
    const extra = { ...good, 'auth-extra-groups': 'system:bootstrappers:z,system:bootstrappers:a', expiration: '' };
    await expect(authenticator(extra)('abcdef.0123456789abcdef', [])).resolves.toMatchObject({
      user: { groups: ['system:bootstrappers', 'system:bootstrappers:a', 'system:bootstrappers:z'] },
    });
  });

  it('counts until its expiration', async () => {
    const later = { ...good, expiration: '2030-01-01T00:00:01Z' };
    await expect(authenticator(later)('abcdef.0123456789abcdef', [])).resolves.toMatchObject({ user: {} });
  });

  it.each([
    ['has the wrong secret', good, 'abcdef.0123456789abcdee'],
    ['has an unknown id', good, 'zzzzzz.0123456789abcdef'],
    ['has capitals', good, 'abcdef.0123456789ABCDEF'],
    ['is too short', good, 'abcdef.012345'],
    ['has no usage for authentication', { ...good, 'usage-bootstrap-authentication': undefined }, undefined],
    ['says false for authentication', { ...good, 'usage-bootstrap-authentication': 'false' }, undefined],
    ['is expired', { ...good, expiration: '2030-01-01T00:00:00Z' }, undefined],
    ['has an unreadable expiration', { ...good, expiration: 'tomorrow' }, undefined],
    ['has another id in its secret', { ...good, 'token-id': 'zzzzz9' }, undefined],
    ['has no secret part stored', { ...good, 'token-secret': undefined }, undefined],
    ['brings a group outside system:bootstrappers', { ...good, 'auth-extra-groups': 'system:masters' }, undefined],
  ])('is not known when it %s', async (_, data, token = 'abcdef.0123456789abcdef') => {
    expect(await authenticator(data)(token, [])).toBeUndefined();
  });

  it('is not known when its secret is of another type, or being deleted', async () => {
    expect(await authenticator(good, 'Opaque')('abcdef.0123456789abcdef', [])).toBeUndefined();
    const deleted = authenticator(good, TYPE, { deletionTimestamp: '2029-12-31T00:00:00Z' });
    expect(await deleted('abcdef.0123456789abcdef', [])).toBeUndefined();
  });
});
