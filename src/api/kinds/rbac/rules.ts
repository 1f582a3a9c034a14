import type { KubeObject } from '../../object';
import type { Strategy } from '../kind-definition';

/** No rules are stored as null, which is what clients have always read for an empty list. */
function nullForNone(role: KubeObject): KubeObject {
  const { rules } = role;
  return Array.isArray(rules) && rules.length === 0 ? { ...role, rules: null } : role;
}

/** What roles and cluster roles do besides their validation. */
export const rulesStrategy: Strategy = { prepareForCreate: nullForNone, prepareForUpdate: nullForNone };
