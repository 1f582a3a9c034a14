import type { KubeObject } from '../api/object';
import { AddressRange } from '../registry/allocation/address-range';

/** An object that a fresh cluster has, and where it belongs. */
export interface DefaultObject {
  readonly group: string;
  readonly resource: string;
  readonly object: KubeObject;
  /** Owns the fields; absent: the server under its own name. */
  readonly manager?: string;
}

export interface ClusterAddresses {
  readonly securePort: number;
  /** CIDR of Service cluster IPs, the primary one; the kubernetes Service takes its first address. */
  readonly serviceRange: string;
}

/** Upstream's start creates the system namespaces first and `default` together with the kubernetes Service. */
const NAMESPACES = ['kube-system', 'kube-public', 'kube-node-lease', 'default'];

const PRIORITY_CLASSES = [
  {
    name: 'system-node-critical',
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
];

function namespace(name: string): DefaultObject {
  return {
    group: '',
    resource: 'namespaces',
    object: {
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: { name },
      status: { phase: 'Active' },
    },
  };
}

function priorityClass(row: (typeof PRIORITY_CLASSES)[number]): DefaultObject {
  const { name, value, description } = row;
  return {
    group: 'scheduling.k8s.io',
    resource: 'priorityclasses',
    object: {
      kind: 'PriorityClass',
      apiVersion: 'scheduling.k8s.io/v1',
      metadata: { name },
      value,
      description,
      preemptionPolicy: 'PreemptLowerPriority',
    },
  };
}

function kubernetesService({ serviceRange, securePort }: ClusterAddresses): DefaultObject {
  const clusterIP = new AddressRange(serviceRange).address(0);
  return {
    group: '',
    resource: 'services',
    object: {
      kind: 'Service',
      apiVersion: 'v1',
      metadata: {
        name: 'kubernetes',
        namespace: 'default',
        labels: { component: 'apiserver', provider: 'kubernetes' },
      },
      spec: {
        ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: securePort }],
        clusterIP,
        clusterIPs: [clusterIP],
        type: 'ClusterIP',
        sessionAffinity: 'None',
      },
      status: { loadBalancer: {} },
    },
  };
}

/** Everything but roles, bindings and what flow control has, in the order of creation. */
export function defaultObjects(addresses: ClusterAddresses): readonly DefaultObject[] {
  return [...NAMESPACES.map(namespace), ...PRIORITY_CLASSES.map(priorityClass), kubernetesService(addresses)];
}
