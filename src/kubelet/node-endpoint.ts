import type { KubeObject } from '../api/object';
import { StatusError } from '../api/errors/status-error';

interface Address {
  readonly type: string;
  readonly address: string;
}

/** The fields of a node that say where its kubelet listens. */
interface Node extends KubeObject {
  readonly status?: {
    readonly addresses?: readonly Address[];
    readonly daemonEndpoints?: { readonly kubeletEndpoint?: { readonly Port?: number } };
  };
}

export interface KubeletEndpoint {
  readonly host: string;
  readonly port: number;
}

const HOSTNAME_LABEL = 'kubernetes.io/hostname';
const DEFAULT_KUBELET_PORT = 10_250;

/** kube-apiserver's default of `--kubelet-preferred-address-types`. */
export const DEFAULT_ADDRESS_TYPES = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'];

/** Where a node's kubelet listens: at the first address of the types, in their order. Throws a 500 when there is none. */
export function kubeletEndpointOf({ metadata, status = {} }: Node, types: readonly string[]): KubeletEndpoint {
  const { addresses = [], daemonEndpoints } = status;
  const port = daemonEndpoints?.kubeletEndpoint?.Port || DEFAULT_KUBELET_PORT;
  for (const type of types) {
    const found = addresses.find((one) => one.type === type);
    if (found !== undefined) return { host: found.address, port };
    const label = type === 'Hostname' ? metadata.labels?.[HOSTNAME_LABEL] : undefined;
    if (label) return { host: label, port };
  }
  const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ');
  throw new StatusError(500, undefined, `no preferred addresses found; known addresses: [${known}]`);
}
