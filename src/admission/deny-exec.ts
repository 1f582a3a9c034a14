import type { MaybePromise } from '../api/maybe-promise';
import type { KubeObject } from '../api/object';
import { allContainers, podSpec } from './pod';
import { refuse, type AdmissionPlugin } from './plugin';

interface HostAccess {
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly containers?: readonly { readonly securityContext?: { readonly privileged?: boolean } }[];
}

type Privilege = 'hostPID' | 'hostIPC' | 'privileged';

const REASONS: Readonly<Record<Privilege, string>> = {
  hostPID: 'cannot exec into or attach to a container using host pid',
  hostIPC: 'cannot exec into or attach to a container using host ipc',
  privileged: 'cannot exec into or attach to a privileged container',
};

function has(pod: KubeObject, privilege: Privilege): boolean {
  const spec = podSpec(pod) as HostAccess;
  if (privilege !== 'privileged') return spec[privilege] === true;
  const containers = allContainers(podSpec(pod)) as NonNullable<HostAccess['containers']>;
  return containers.some(({ securityContext }) => securityContext?.privileged === true);
}

function denyExec(
  name: string,
  privileges: readonly Privilege[],
  getPod: (namespace: string, name: string) => MaybePromise<KubeObject | undefined>,
): AdmissionPlugin {
  return {
    name,
    operations: ['CONNECT'],
    resources: ['pods/exec', 'pods/attach'],
    validate: async (attributes) => {
      const pod = await getPod(attributes.namespace, attributes.name);
      if (pod === undefined) throw refuse(attributes, `pods ${JSON.stringify(attributes.name)} not found`);
      const found = privileges.find((privilege) => has(pod, privilege));
      if (found !== undefined) throw refuse(attributes, REASONS[found]);
    },
  };
}

/** DenyEscalatingExec: no commands run in a pod that has more of its node than its container. */
export function denyEscalatingExec(
  getPod: (namespace: string, name: string) => MaybePromise<KubeObject | undefined>,
): AdmissionPlugin {
  return denyExec('DenyEscalatingExec', ['hostPID', 'hostIPC', 'privileged'], getPod);
}

/** DenyExecOnPrivileged: the same for privileged containers only. */
export function denyExecOnPrivileged(
  getPod: (namespace: string, name: string) => MaybePromise<KubeObject | undefined>,
): AdmissionPlugin {
  return denyExec('DenyExecOnPrivileged', ['privileged'], getPod);
}
