import type { KubeObject } from '../api/object';
import type { APIServiceSpec } from '../api/schema/generated/apiregistration-v1';

/** A group version that another API server serves, as its APIService says. */
export interface RemoteApi {
  /** Of the APIService: `v1beta1.metrics.k8s.io`. */
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly service: { readonly namespace: string; readonly name: string; readonly port: number };
  /** PEM; empty: the system's authorities. */
  readonly certificateAuthority: string;
  readonly insecure: boolean;
  readonly groupPriority: number;
  readonly versionPriority: number;
}

const DEFAULT_PORT = 443;

/** Undefined for what this server serves itself. The core group is always its own. */
export function remoteApiOf({ metadata, ...object }: KubeObject): RemoteApi | undefined {
  const spec = (object['spec'] ?? {}) as APIServiceSpec;
  const { service, group = '', version = '' } = spec;
  if (!service || !group || !version) return undefined;
  return {
    name: metadata.name ?? '',
    group,
    version,
    service: { namespace: service.namespace ?? '', name: service.name ?? '', port: service.port ?? DEFAULT_PORT },
    certificateAuthority: Buffer.from(spec.caBundle ?? '', 'base64').toString('latin1'),
    insecure: spec.insecureSkipTLSVerify === true,
    groupPriority: spec.groupPriorityMinimum ?? 0,
    versionPriority: spec.versionPriority ?? 0,
  };
}

/** `group/version`. */
export function groupVersionKey({ group, version }: Pick<RemoteApi, 'group' | 'version'>): string {
  return `${group}/${version}`;
}

/** The name that the server's certificate must have. */
export function serverNameOf({ service: { namespace, name } }: RemoteApi): string {
  return `${name}.${namespace}.svc`;
}

/** Where the group version is found, there and here. */
export function rootPathOf({ group, version }: Pick<RemoteApi, 'group' | 'version'>): string {
  return `/apis/${group}/${version}`;
}
