import type { KubeObject } from '../api/object';
import { allContainers, podSpec } from './pod';

/** The parts of a pod that the Pod Security Standards speak of. */
export interface SecurityContext {
  readonly privileged?: boolean;
  readonly procMount?: string;
  readonly allowPrivilegeEscalation?: boolean;
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
  readonly seLinuxOptions?: { readonly type?: string; readonly user?: string; readonly role?: string };
  readonly seccompProfile?: { readonly type?: string };
  readonly appArmorProfile?: { readonly type?: string };
  readonly windowsOptions?: { readonly hostProcess?: boolean };
  readonly sysctls?: readonly { readonly name: string }[];
}

export interface SecuredContainer {
  readonly name: string;
  readonly securityContext?: SecurityContext;
  readonly ports?: readonly { readonly hostPort?: number }[];
}

export interface SecuredPodSpec {
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly os?: { readonly name?: string };
  readonly securityContext?: SecurityContext;
  readonly volumes?: readonly { readonly name: string; readonly [source: string]: unknown }[];
}

/** One rule of a standard. */
export interface SecurityCheck {
  readonly id: string;
  /** The rule of a lower level that this one makes stricter. */
  readonly replaces?: string;
  /** What messages call the violation. */
  readonly reason: string;
  /** What in the pod violates it; undefined when nothing does. */
  readonly detail: (pod: KubeObject) => string | undefined;
}

export function securedSpec(pod: KubeObject): SecuredPodSpec {
  return podSpec(pod) as SecuredPodSpec;
}

export function securedContainers(pod: KubeObject): readonly SecuredContainer[] {
  return allContainers(podSpec(pod));
}

/** Rules about Linux do not concern these. */
export function isWindows(pod: KubeObject): boolean {
  return securedSpec(pod).os?.name === 'windows';
}

/** `"a", "b"` */
export function quotedList(texts: Iterable<string>): string {
  return [...texts].map((text) => JSON.stringify(text)).join(', ');
}

/** `container "a"` or `containers "a", "b"`. */
export function containersNamed(containers: readonly { readonly name: string }[]): string {
  return `${containers.length === 1 ? 'container' : 'containers'} ${quotedList(containers.map(({ name }) => name))}`;
}

/** Who sets something that may not be set: the pod, containers, or both. */
export function setters(pod: KubeObject, isBad: (context: SecurityContext | undefined) => boolean): string | undefined {
  const containers = securedContainers(pod).filter(({ securityContext }) => isBad(securityContext));
  const found = [
    ...(isBad(securedSpec(pod).securityContext) ? ['pod'] : []),
    ...(containers.length === 0 ? [] : [containersNamed(containers)]),
  ];
  return found.length === 0 ? undefined : found.join(' and ');
}
