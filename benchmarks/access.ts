#!/usr/bin/env node
/**
 * What authentication and RBAC cost a request of a user whose token is known already, with 2,000 roles and 2,000
 * bindings. Run "npm run build" first; `--dist` names another build. The bound is 20 microseconds.
 */
import { generateKeyPairSync } from 'node:crypto';
import type { KubernetesRelease } from '../src/api/kubernetes-release';
import type * as TokenCache from '../src/authn/token-cache';
import type * as Union from '../src/authn/union';
import type * as AccountToken from '../src/authn/service-account-token';
import type * as Issuer from '../src/authn/service-account-issuer';
import type * as SigningKeys from '../src/pki/signing-keys';
import type * as Rbac from '../src/authz/rbac';
import type * as Modes from '../src/authz/modes';
import type * as DefaultRbac from '../src/bootstrap/default-rbac';
import { load } from './built';
import { median } from './report/statistics';

const BOUND_MICROSECONDS = 20;
const RELEASE: KubernetesRelease = { major: '1', minor: '28' };
const ROLES = 2000;
const WARM_UP = 20_000;
const ROUNDS = 5;
const CALLS_PER_ROUND = 50_000;

/** A token of a service account, verified once and remembered, as in the server. */
async function authenticator() {
  const { cachedTokenAuthenticator } = load<typeof TokenCache>('authn/token-cache');
  const { authenticateRequest, authenticateTokenUnion } = load<typeof Union>('authn/union');
  const { serviceAccountTokenAuthenticator } = load<typeof AccountToken>('authn/service-account-token');
  const { boundTokenIssuer } = load<typeof Issuer>('authn/service-account-issuer');
  const { parseSigningKey } = load<typeof SigningKeys>('pki/signing-keys');
  const pem = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' });
  const key = parseSigningKey(pem.toString());
  const keys = [key];
  const account = { metadata: { name: 'robot', uid: 'u' } };
  const tokens = serviceAccountTokenAuthenticator({
    keys: () => keys,
    issuers: ['https://issuer'],
    audiences: ['https://issuer'],
    lookup: true,
    objects: {
      getServiceAccount: async () => account,
      getSecret: async () => undefined,
      getPod: async () => undefined,
    },
    now: Date.now,
  });
  const cached = cachedTokenAuthenticator(authenticateTokenUnion([tokens]), {
    successTtlMs: 600_000,
    failureTtlMs: 0,
    clock: () => performance.now(),
  });
  const token = await boundTokenIssuer(
    'https://issuer',
    () => key,
  )({
    namespace: 'ns-7',
    account: { name: 'robot', uid: 'u' },
    audiences: ['https://issuer'],
    lifetimeSeconds: 3600,
    now: Date.now(),
  });
  const authenticate = authenticateRequest({
    authenticators: [],
    authenticateToken: cached,
    audiences: ['https://issuer'],
    allowAnonymous: true,
  });
  const headers = { names: () => [], values: () => [] };
  const connection = {};
  return { authenticate, credentials: { bearerToken: token, clientCertificate: undefined, headers, connection } };
}

/** The default roles, and many more; the account's own binding is one of them. */
function authorizer() {
  const { RbacAuthorizer } = load<typeof Rbac>('authz/rbac');
  const { authorizeInOrder } = load<typeof Modes>('authz/modes');
  const { defaultRbacObjects } = load<typeof DefaultRbac>('bootstrap/default-rbac');
  const kinds: Readonly<Record<string, Parameters<Rbac.RbacAuthorizer['put']>[0]>> = {
    clusterroles: 'ClusterRole',
    roles: 'Role',
    clusterrolebindings: 'ClusterRoleBinding',
    rolebindings: 'RoleBinding',
  };
  const rbac = new RbacAuthorizer();
  for (const { resource, object } of defaultRbacObjects(RELEASE)) rbac.put(kinds[resource] ?? 'Role', object);
  for (let number = 0; number < ROLES; number++) {
    const namespace = `ns-${number % 100}`;
    rbac.put('Role', {
      metadata: { name: `role-${number}`, namespace },
      rules: [{ verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods', 'configmaps'] }],
    });
    rbac.put('RoleBinding', {
      metadata: { name: `binding-${number}`, namespace },
      roleRef: { kind: 'Role', name: `role-${number}` },
      subjects: [
        number === 7
          ? { kind: 'ServiceAccount', name: 'robot', namespace: 'ns-7' }
          : { kind: 'User', name: `user-${number}` },
      ],
    });
  }
  return authorizeInOrder([rbac.authorize]);
}

async function main(): Promise<void> {
  const { authenticate, credentials } = await authenticator();
  const authorize = authorizer();
  const asked = {
    verb: 'get',
    resourceRequest: true,
    group: '',
    version: 'v1',
    resource: 'pods',
    subresource: '',
    namespace: 'ns-7',
    name: 'p',
    path: '',
  };
  const request = async () => {
    const user = await authenticate(credentials);
    const { decision } = await authorize({ ...asked, user });
    if (decision !== 'allow') throw new Error(`${user.name} may not`);
  };
  for (let call = 0; call < WARM_UP; call++) await request();
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    // Time of the processor: what else the machine does is not measured.
    const start = process.cpuUsage();
    for (let call = 0; call < CALLS_PER_ROUND; call++) await request();
    const { user, system } = process.cpuUsage(start);
    rounds.push((user + system) / CALLS_PER_ROUND);
  }
  const middle = median(rounds);
  console.log(
    `authentication and RBAC with ${ROLES} roles: ${middle.toFixed(2)} microseconds ` +
      `(${Math.min(...rounds).toFixed(2)} to ${Math.max(...rounds).toFixed(2)}); the bound is ${BOUND_MICROSECONDS}`,
  );
  if (middle > BOUND_MICROSECONDS) process.exitCode = 1;
}

void main();
