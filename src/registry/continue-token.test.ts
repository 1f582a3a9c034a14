import { StatusError } from '../api/errors/status-error';
import type { Revision } from '../storage/store';
import { decodeContinueToken, encodeContinueToken } from './continue-token';

const prefix = '/registry/pods/n/';
const token = (fields: unknown): string => Buffer.from(JSON.stringify(fields)).toString('base64url');

describe('a continue token', () => {
  it("has kube-apiserver's form", () => {
    const encoded = encodeContinueToken({ revision: 616 as Revision, start: `${prefix}c2\0` }, prefix);
    expect(Buffer.from(encoded, 'base64url').toString()).toBe('{"v":"meta.k8s.io/v1","rv":616,"start":"c2\\u0000"}');
    expect(encoded).not.toContain('=');
    expect(decodeContinueToken(encoded, prefix)).toEqual({ revision: 616, start: `${prefix}c2\0` });
  });

  it('of revision -1 goes on with whatever is newest', () => {
    const text = token({ v: 'meta.k8s.io/v1', rv: -1, start: 'c2' });
    expect(decodeContinueToken(text, prefix)).toEqual({ revision: undefined, start: `${prefix}c2` });
  });

  it.each([
    ['x', 'illegal base64 data at input byte 0'],
    ['e30=', 'illegal base64 data at input byte 3'],
    ['bm90IGpzb24', "invalid character 'o' in literal null (expecting 'u')"],
    ['zzz', "invalid character 'Ï' looking for beginning of value"],
    ['junk', "invalid character '\\u008e' looking for beginning of value"],
    [token(null), 'server does not recognize this encoded version ""'],
    [token([]), 'json: cannot unmarshal array into Go value of type etcd3.continueToken'],
    [token({}), 'server does not recognize this encoded version ""'],
    [token({ v: 'v2', rv: 1, start: 'a' }), 'server does not recognize this encoded version "v2"'],
    [token({ v: 'meta.k8s.io/v1', start: 'a' }), 'incorrect encoded start resourceVersion (version meta.k8s.io/v1)'],
    [token({ v: 'meta.k8s.io/v1', rv: 5 }), 'encoded start key empty (version meta.k8s.io/v1)'],
    [
      token({ v: 'meta.k8s.io/v1', rv: '5', start: 'a' }),
      'json: cannot unmarshal string into Go struct field continueToken.rv of type int64',
    ],
    [
      token({ v: 'meta.k8s.io/v1', rv: 5, start: 7 }),
      'json: cannot unmarshal number into Go struct field continueToken.start of type string',
    ],
    [token({ v: 'meta.k8s.io/v1', rv: -1, start: '../c2' }), '../c2'],
    [token({ v: 'meta.k8s.io/v1', rv: -1, start: 'a//b' }), 'a//b'],
  ])('that is %j is refused', (text, cause) => {
    expect(() => decodeContinueToken(text, prefix)).toThrow(
      new StatusError(400, 'BadRequest', `invalid continue token: continue key is not valid: ${cause}`),
    );
  });
});
