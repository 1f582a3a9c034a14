import { apiVersionOf } from '../object';

/** A named group and its versions, preferred one first. */
export interface DiscoveredGroup {
  readonly name: string;
  readonly versions: readonly string[];
}

interface GroupVersionForDiscovery {
  readonly groupVersion: string;
  readonly version: string;
}

/** APIGroup of meta/v1. */
export interface ApiGroup {
  readonly kind?: 'APIGroup';
  readonly apiVersion?: 'v1';
  readonly name: string;
  readonly versions: readonly GroupVersionForDiscovery[];
  readonly preferredVersion: GroupVersionForDiscovery;
}

function toApiGroup({ name, versions }: DiscoveredGroup): ApiGroup {
  const entries = versions.map((version) => ({ groupVersion: apiVersionOf(name, version), version }));
  const [preferredVersion] = entries;
  if (preferredVersion === undefined) throw new Error(`group ${name} has no versions`);
  return { name, versions: entries, preferredVersion };
}

/** The answer of `/apis/{group}`. */
export function apiGroup(group: DiscoveredGroup): ApiGroup {
  return { kind: 'APIGroup', apiVersion: 'v1', ...toApiGroup(group) };
}

/** The answer of `/apis`; `groups` in order of priority. */
export function apiGroupList(groups: readonly DiscoveredGroup[]): object {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(toApiGroup) };
}

/** The answer of `/api`. `address` is where clients outside reach the server: host and port. */
export function apiVersions(address: string): object {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: address }],
  };
}
