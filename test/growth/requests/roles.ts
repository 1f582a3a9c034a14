import type { CountedServer, Sent } from '../counted-server';
import { DRY, RBAC } from './request-subject';

/** The user holds a role of these rules, and may write roles. */
export function holding(rulesOf: (count: number) => readonly object[]) {
  return async (count: number, server: CountedServer): Promise<void> => {
    const name = 'held';
    const writing = { apiGroups: ['rbac.authorization.k8s.io'], resources: ['*'], verbs: ['create', 'patch', 'get'] };
    const body = { metadata: { name }, rules: [writing, ...rulesOf(count)] };
    const { status, text } = await server.prepare('PUT', `${RBAC}/clusterroles/${name}`, { body })();
    if (status >= 300) throw new Error(text);
    await server.create(`${RBAC}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'user' }],
    });
    // The authorizer hears of it as of any other change.
    await new Promise((resolve) => setTimeout(resolve, 50));
  };
}

export const roleOf = (rules: readonly object[]): Sent & { readonly path: string } => ({
  path: `${RBAC}/namespaces/default/roles?${DRY}`,
  body: { metadata: { name: 'r' }, rules },
  as: 'user',
});
