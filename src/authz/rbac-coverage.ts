import type { PolicyRule } from './rbac-rules';

/** A rule split so far that it names one verb, and one resource of one group or one path. */
function atoms(rule: PolicyRule): readonly PolicyRule[] {
  const names = rule.resourceNames === undefined || rule.resourceNames.length === 0 ? [undefined] : rule.resourceNames;
  return (rule.verbs ?? []).flatMap((verb) => [
    ...(rule.nonResourceURLs ?? []).map((path) => ({ verbs: [verb], nonResourceURLs: [path] })),
    ...(rule.apiGroups ?? []).flatMap((group) =>
      (rule.resources ?? []).flatMap((resource) =>
        names.map((name) => ({
          verbs: [verb],
          apiGroups: [group],
          resources: [resource],
          ...(name === undefined ? {} : { resourceNames: [name] }),
        })),
      ),
    ),
  ]);
}

function holds(list: readonly string[] | undefined, wanted: readonly string[] | undefined): boolean {
  return (wanted ?? []).every((value) => list !== undefined && (list.includes('*') || list.includes(value)));
}

function holdsResource(list: readonly string[] | undefined, wanted: string | undefined): boolean {
  if (wanted === undefined || list === undefined) return false;
  const slash = wanted.indexOf('/');
  return list.includes('*') || list.includes(wanted) || (slash >= 0 && list.includes(`*${wanted.slice(slash)}`));
}

function holdsPath(list: readonly string[] | undefined, wanted: string): boolean {
  return (list ?? []).some(
    (pattern) =>
      pattern === '*' || pattern === wanted || (pattern.endsWith('*') && wanted.startsWith(pattern.slice(0, -1))),
  );
}

function covers(owner: PolicyRule, atom: PolicyRule): boolean {
  if (!holds(owner.verbs, atom.verbs)) return false;
  const path = atom.nonResourceURLs?.[0];
  if (path !== undefined) return holdsPath(owner.nonResourceURLs, path);
  if (!holds(owner.apiGroups, atom.apiGroups) || !holdsResource(owner.resources, atom.resources?.[0])) return false;
  const unrestricted = owner.resourceNames === undefined || owner.resourceNames.length === 0;
  return unrestricted || (atom.resourceNames?.every((name) => owner.resourceNames?.includes(name)) ?? false);
}

/**
 * The parts of `wanted` that `owned` does not permit, each naming one verb and one resource or path. Empty: whoever
 * holds `owned` may hand out `wanted` (escalation), and a role with `owned` needs nothing added (reconciliation).
 */
export function uncoveredRules(owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  return wanted.flatMap(atoms).filter((atom) => !owned.some((rule) => covers(rule, atom)));
}
