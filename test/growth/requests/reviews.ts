import { holding } from './roles';
import { DRY, FEW, RBAC, type RequestSubject, byNumber, inNamespace, names, rulesOn, subject } from './request-subject';

export const REVIEWS: Readonly<Record<string, RequestSubject>> = {
  'groups of an access review': subject(201, 'POST', (count) => ({
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: { spec: { user: 'user', groups: names(count), resourceAttributes: { verb: 'get', resource: 'pods' } } },
  })),
  'extra values of an access review': subject(201, 'POST', (count) => ({
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: {
      spec: {
        user: 'user',
        extra: byNumber(count, (number) => [`v-${number}`]),
        nonResourceAttributes: { verb: 'get', path: '/a' },
      },
    },
  })),
  'audiences of a token review': subject(201, 'POST', (count) => ({
    path: '/apis/authentication.k8s.io/v1/tokenreviews',
    body: { spec: { token: 'user', audiences: names(count) } },
  })),
  'parts of a token': subject(201, 'POST', (count) => ({
    path: '/apis/authentication.k8s.io/v1/tokenreviews',
    body: { spec: { token: names(count).join('.') } },
  })),
  'audiences of a token request': subject(
    201,
    'POST',
    (count) => ({
      path: '/api/v1/namespaces/default/serviceaccounts/default/token',
      body: { spec: { audiences: names(count), expirationSeconds: 600 } },
    }),
    (_count, server) => inNamespace(server, 'default', []),
  ),
  'bytes of a certificate request': subject(422, 'POST', (count) => ({
    path: `/apis/certificates.k8s.io/v1/certificatesigningrequests?${DRY}`,
    body: {
      metadata: { name: 'c' },
      spec: {
        signerName: 'example.com/signer',
        usages: ['client auth'],
        request: Buffer.from(
          `-----BEGIN CERTIFICATE REQUEST-----\n${'MAA=\n'.repeat(count)}-----END CERTIFICATE REQUEST-----\n`,
        ).toString('base64'),
      },
    },
  })),
  'rules of a rules review': subject(
    201,
    'POST',
    () => ({
      path: '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
      body: { spec: { namespace: 'default' } },
      as: 'user',
    }),
    holding((count) => rulesOn(names(count))),
  ),
  'rules that permit nothing of what is asked': subject(
    403,
    'GET',
    () => ({ path: '/api/v1/nodes', as: 'user' }),
    holding((count) => rulesOn(names(count))),
  ),
  'bindings of a user': subject(
    201,
    'POST',
    (count) => ({
      path: '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
      body: { spec: { namespace: `bound-${count}` } },
      as: 'user',
    }),
    async (count, server) => {
      const path = `${RBAC}/namespaces/bound-${count}`;
      const binding = (name: string): object => ({
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'user' }],
      });
      await inNamespace(
        server,
        `bound-${count}`,
        names(count).flatMap((name) => [
          [`${path}/roles`, { metadata: { name }, rules: rulesOn([name]) }] as const,
          [`${path}/rolebindings`, binding(name)] as const,
        ]),
      );
    },
    FEW,
  ),
};
