import { isDeepStrictEqual } from 'node:util';
import type { JsonValue, KubeObject } from '../api/object';
import { selectsLabels, type LabelSelector } from '../api/selectors/label-selector';
import { sortedJson } from '../api/sorted-json';
import { isStatus, startController, type Controller, type ControllerParts } from './controller';

const PATH = '/apis/rbac.authorization.k8s.io/v1/clusterroles';

interface AggregationRule {
  readonly clusterRoleSelectors?: readonly LabelSelector[] | null;
}

/**
 * The rules that an aggregating role has of the others: selector by selector, each time in order of the roles' names,
 * each rule once. Undefined for a role that aggregates nothing.
 */
export function aggregatedRules(role: KubeObject, roles: Iterable<KubeObject>): readonly unknown[] | undefined {
  const aggregation = role.aggregationRule as AggregationRule | null | undefined;
  if (aggregation == null) return undefined;
  const others = [...roles]
    .filter(({ metadata }) => metadata.name !== role.metadata.name)
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  const rules = new Map<string, unknown>();
  for (const selector of aggregation.clusterRoleSelectors ?? []) {
    for (const other of others) {
      if (!selectsLabels(selector, other.metadata.labels)) continue;
      for (const rule of (other.rules as readonly unknown[] | null | undefined) ?? []) {
        const text = sortedJson(rule as JsonValue);
        if (!rules.has(text)) rules.set(text, rule);
      }
    }
  }
  return [...rules.values()];
}

/** Fills the rules of cluster roles that have an aggregationRule with those of the roles it selects. */
export function startClusterRoleAggregation(parts: ControllerParts): Controller {
  return startController('clusterrole-aggregation', parts, ({ client, signal, queue, follow }) => {
    const roles = new Map<string, KubeObject>();
    const enqueueAggregating = (): void => {
      for (const [name, { aggregationRule }] of roles) if (aggregationRule != null) queue.add(name);
    };
    follow({
      path: PATH,
      changed: (role) => {
        roles.set(role.metadata.name ?? '', role);
        enqueueAggregating();
      },
      deleted: ({ metadata: { name = '' } }) => {
        roles.delete(name);
        enqueueAggregating();
      },
    });
    return async (name) => {
      const role = roles.get(name);
      const rules = role && aggregatedRules(role, roles.values());
      if (role === undefined || rules === undefined || isDeepStrictEqual(role.rules ?? [], rules)) return;
      try {
        await client.update(`${PATH}/${encodeURIComponent(name)}`, { ...role, rules }, signal);
      } catch (error) {
        if (!isStatus(error, 404)) throw error;
      }
    };
  });
}
