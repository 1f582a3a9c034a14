import { createHmac } from 'node:crypto';
import { signDetached } from './detached-jws';

describe('a detached JWS', () => {
  it('verifies with the shared key once the content stands between its dots', async () => {
    const [header = '', middle, signature] = (await signDetached('some text', 'shared', 'id')).split('.');
    expect(middle).toBe('');
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({ alg: 'HS256', kid: 'id' });
    const signed = `${header}.${Buffer.from('some text').toString('base64url')}`;
    expect(signature).toBe(createHmac('sha256', 'shared').update(signed).digest('base64url'));
  });

  it('is what kubeadm computes', async () => {
    const content = 'Hello from the other side. I must have called a thousand times.';
    await expect(signDetached(content, 'my voice is my passcode', 'joshua')).resolves.toBe(
      'eyJhbGciOiJIUzI1NiIsImtpZCI6Impvc2h1YSJ9..VShe2taLd-YTrmWuRkcL_8QTNDHYxQIEBsAYYiIj1_8',
    );
  });
});
