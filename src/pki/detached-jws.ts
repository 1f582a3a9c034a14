import { CompactSign } from 'jose';

/**
 * A signature of a text that the text does not come with: a JWS by HS256 without its middle part (RFC 7515, appendix F). The
 * key is shared with the verifier.
 */
export async function signDetached(content: string, key: string, keyId: string): Promise<string> {
  const whole = await new CompactSign(Buffer.from(content, 'utf8'))
    .setProtectedHeader({ alg: 'HS256', kid: keyId })
    .sign(Buffer.from(key, 'utf8'));
  const [header = '', , signature = ''] = whole.split('.');
  return `${header}..${signature}`;
}
