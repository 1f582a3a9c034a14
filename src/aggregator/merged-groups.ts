import { compareVersions } from '../api/custom/version-order';
import type { DiscoveredGroup } from '../api/discovery/groups';
import { CUSTOM_RESOURCE_PRIORITY, GROUPS } from '../api/kinds/groups';
import type { RemoteApi } from './remote-api';

/**
 * The groups of this server, which are in order of priority, with those of others among them. A group has the highest
 * `groupPriorityMinimum` of its versions; groups of one priority stand by name.
 */
export function mergedGroups(
  local: readonly DiscoveredGroup[],
  remote: readonly RemoteApi[],
): readonly DiscoveredGroup[] {
  if (remote.length === 0) return local;
  const byGroup = new Map<string, RemoteApi[]>();
  for (const api of remote) byGroup.set(api.group, [...(byGroup.get(api.group) ?? []), api]);
  const groups = local.map((group) => ({
    name: group.name,
    priority: localPriority(group.name),
    versions: mergedVersions(group, byGroup.get(group.name) ?? []),
  }));
  const own = new Set(local.map(({ name }) => name));
  for (const [name, apis] of byGroup) {
    if (own.has(name)) continue;
    const priority = Math.max(...apis.map(({ groupPriority }) => groupPriority));
    const isBehind = (one: { readonly name: string; readonly priority: number }): boolean =>
      one.priority < priority || (one.priority === priority && one.name > name);
    const at = groups.findIndex(isBehind);
    groups.splice(at < 0 ? groups.length : at, 0, {
      name,
      priority,
      versions: mergedVersions({ name, versions: [] }, apis),
    });
  }
  return groups.map(({ name, versions }) => ({ name, versions }));
}

function localPriority(name: string): number {
  return GROUPS.find((group) => group.name === name)?.groupPriority ?? CUSTOM_RESOURCE_PRIORITY.groupPriority;
}

/** In descending order of `versionPriority`, then as versions are preferred. */
function mergedVersions({ name, versions }: DiscoveredGroup, remote: readonly RemoteApi[]): readonly string[] {
  if (remote.length === 0) return versions;
  const builtIn = GROUPS.find((group) => group.name === name)?.versions ?? [];
  const priorities = new Map(
    versions.map((version) => {
      const found = builtIn.find((one) => one.version === version);
      return [version, found?.versionPriority ?? CUSTOM_RESOURCE_PRIORITY.versionPriority];
    }),
  );
  for (const { version, versionPriority } of remote) priorities.set(version, versionPriority);
  return [...priorities]
    .sort(([left, a], [right, b]) => b - a || compareVersions(left, right))
    .map(([version]) => version);
}
