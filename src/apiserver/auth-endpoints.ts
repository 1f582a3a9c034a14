import { boundTokenIssuer } from '../authn/service-account-issuer';
import {
  localSubjectAccessReview,
  selfSubjectAccessReview,
  subjectAccessReview,
} from '../http/endpoints/access-review';
import { selfSubjectReview } from '../http/endpoints/self-subject-review';
import { selfSubjectRulesReview } from '../http/endpoints/self-subject-rules-review';
import { tokenRequest } from '../http/endpoints/token-request';
import { tokenReview } from '../http/endpoints/token-review';
import type { Endpoint } from '../http/endpoints/endpoint';
import type { NonResourceRoute } from '../http/routes/route';
import { hasDiscoveryDocuments, KEYS_PATH, oidcRoutes } from '../http/routes/oidc-routes';
import type { Authentication, LiveServiceAccountKeys, ServiceAccountOptions } from './authentication';
import type { Authorization } from './authorization';

/** Reviews and token requests: what authentication and authorization answer themselves. */
export function authEndpoints(
  { authenticateToken }: Authentication,
  { authorize, listRules }: Authorization,
  { issuers, audiences, maxLifetimeSeconds, extendLifetime }: ServiceAccountOptions,
  keys: LiveServiceAccountKeys,
): ReadonlyMap<string, Endpoint> {
  const [issuer = ''] = issuers;
  return new Map([
    ['create authentication.k8s.io/tokenreviews', tokenReview(authenticateToken, audiences)],
    ['create authentication.k8s.io/selfsubjectreviews', selfSubjectReview],
    ['create authorization.k8s.io/subjectaccessreviews', subjectAccessReview(authorize)],
    ['create authorization.k8s.io/localsubjectaccessreviews', localSubjectAccessReview(authorize)],
    ['create authorization.k8s.io/selfsubjectaccessreviews', selfSubjectAccessReview(authorize)],
    ['create authorization.k8s.io/selfsubjectrulesreviews', selfSubjectRulesReview(listRules)],
    [
      'create /serviceaccounts/token',
      tokenRequest({
        issue: boundTokenIssuer(issuer, () => keys.current().signingKey),
        audiences,
        maxLifetimeSeconds,
        extendLifetime,
      }),
    ],
  ]);
}

/** The issuer's documents, if its name can have any. `address`: `host:port` of this server. */
export function issuerRoutes(
  { issuers, keysUrl }: ServiceAccountOptions,
  keys: LiveServiceAccountKeys,
  address: string,
): readonly NonResourceRoute[] {
  const [issuer = ''] = issuers;
  if (!hasDiscoveryDocuments(issuer)) return [];
  return oidcRoutes({ issuer, keysUrl: keysUrl || `https://${address}${KEYS_PATH}`, keys: () => keys.current().keys });
}
