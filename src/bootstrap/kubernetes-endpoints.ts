import { isIPv6 } from 'node:net';
import { jsonEqual } from '../api/patch/json-equal';
import type { KubeObject } from '../api/object';

const NAME = 'kubernetes';
const NAMESPACE = 'default';
const SERVICE_LABEL = 'kubernetes.io/service-name';
/** The endpoints have a slice of their own already. */
const SKIP_MIRROR_LABEL = 'endpointslice.kubernetes.io/skip-mirror';

interface Subset {
  readonly addresses?: readonly { readonly ip?: string }[];
  readonly ports?: readonly unknown[];
}

/**
 * The Endpoints of the kubernetes Service: the live servers, all on one port. Gives the object back as it is when it says
 * so already; of one that says something else, its other metadata stay.
 */
export function wantedEndpoints(
  existing: KubeObject | undefined,
  addresses: readonly string[],
  port: number,
): KubeObject {
  const subset = {
    addresses: addresses.map((ip) => ({ ip })),
    ports: [{ name: 'https', port, protocol: 'TCP' }],
  };
  const labels = existing?.metadata.labels ?? {};
  if (existing !== undefined && SKIP_MIRROR_LABEL in labels && saysTheSame(existing, subset)) return existing;
  return {
    ...existing,
    kind: 'Endpoints',
    apiVersion: 'v1',
    metadata: {
      ...existing?.metadata,
      name: NAME,
      namespace: NAMESPACE,
      labels: { ...labels, [SKIP_MIRROR_LABEL]: 'true' },
    },
    subsets: [subset],
  };
}

function saysTheSame(existing: KubeObject, subset: Required<Subset>): boolean {
  const [only, ...others] = (existing.subsets ?? []) as readonly Subset[];
  if (only === undefined || others.length > 0) return false;
  const addresses = (only.addresses ?? []).map(({ ip }) => ip).sort();
  return jsonEqual(addresses, subset.addresses.map(({ ip }) => ip).sort()) && jsonEqual(only.ports ?? [], subset.ports);
}

/** The EndpointSlice (discovery.k8s.io/v1) that says the same. Addresses are all of the first one's family. */
export function wantedEndpointSlice(
  existing: KubeObject | undefined,
  addresses: readonly string[],
  port: number,
): KubeObject {
  const addressType = isIPv6(addresses[0] ?? '') ? 'IPv6' : 'IPv4';
  const wanted = {
    addressType,
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
    ports: [{ name: 'https', port, protocol: 'TCP' }],
  };
  const labels = { ...existing?.metadata.labels, [SERVICE_LABEL]: NAME };
  return {
    ...existing,
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: { ...existing?.metadata, name: NAME, namespace: NAMESPACE, labels },
    ...wanted,
  };
}
