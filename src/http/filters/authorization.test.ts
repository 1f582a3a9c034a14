import type { Attributes } from '../../authz/attributes';
import { refusal } from './authorization';

const asked: Attributes = {
  user: { name: 'j\u0000s\u00e9', uid: '', groups: [], extra: {} },
  verb: 'get',
  resourceRequest: false,
  path: '/a\u0007b',
  group: '',
  version: '',
  resource: '',
  subresource: '',
  namespace: '',
  name: '',
};

describe('the words of a refusal', () => {
  it('quote a path and a user as Go does', () => {
    expect(refusal(asked, '').message).toBe('forbidden: User "j\\x00s\u00e9" cannot get path "/a\\ab"');
  });

  it('quote a resource and a namespace as Go does', () => {
    const attributes = { ...asked, resourceRequest: true, resource: 'p', namespace: '\u0000' };
    expect(refusal(attributes, '').message).toContain(
      'cannot get resource "p" in API group "" in the namespace "\\x00"',
    );
  });
});
