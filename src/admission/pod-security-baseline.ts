import type { KubeObject } from '../api/object';
import {
  containersNamed,
  quotedList,
  securedContainers,
  securedSpec,
  setters,
  type SecuredContainer,
  type SecurityCheck,
  type SecurityContext,
} from './pod-security-pod';

const CAPABILITIES = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]);
const SYSCTLS = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ping_group_range',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.tcp_wmem',
]);
const SELINUX_TYPES = new Set(['', 'container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t']);
const APPARMOR_PREFIX = 'container.apparmor.security.beta.kubernetes.io/';

function offending(
  pod: KubeObject,
  isBad: (container: SecuredContainer) => boolean,
  rest: (containers: readonly SecuredContainer[]) => string,
): string | undefined {
  const bad = securedContainers(pod).filter(isBad);
  return bad.length === 0 ? undefined : `${containersNamed(bad)} ${rest(bad)}`;
}

function appArmor(pod: KubeObject): string | undefined {
  const annotations = Object.entries(pod.metadata.annotations ?? {})
    .filter(([key]) => key.startsWith(APPARMOR_PREFIX))
    .filter(([, value]) => value !== '' && value !== 'runtime/default' && !value.startsWith('localhost/'))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .sort();
  const setting = setters(pod, (context) => context?.appArmorProfile?.type === 'Unconfined');
  const texts = [
    ...(annotations.length === 0
      ? []
      : [`${annotations.length === 1 ? 'annotation' : 'annotations'} ${annotations.join(', ')}`]),
    ...(setting === undefined ? [] : [`${setting} must not set AppArmor profile type to "Unconfined"`]),
  ];
  return texts.length === 0 ? undefined : texts.join('; ');
}

function addedCapabilities({ securityContext }: SecuredContainer): readonly string[] {
  return (securityContext?.capabilities?.add ?? []).filter((capability) => !CAPABILITIES.has(capability));
}

function hostNamespaces(pod: KubeObject): string | undefined {
  const spec = securedSpec(pod);
  const used = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field] === true);
  return used.length === 0 ? undefined : used.map((field) => `${field}=true`).join(', ');
}

function hostPathVolumes(pod: KubeObject): string | undefined {
  const volumes = (securedSpec(pod).volumes ?? []).filter(({ hostPath }) => hostPath != null);
  if (volumes.length === 0) return undefined;
  return `${volumes.length === 1 ? 'volume' : 'volumes'} ${quotedList(volumes.map(({ name }) => name))}`;
}

function hostPorts(pod: KubeObject): string | undefined {
  const portsOf = ({ ports = [] }: SecuredContainer): readonly number[] =>
    ports.flatMap(({ hostPort = 0 }) => (hostPort === 0 ? [] : [hostPort]));
  return offending(
    pod,
    (container) => portsOf(container).length > 0,
    (bad) => {
      const ports = [...new Set(bad.flatMap(portsOf))].sort((a, b) => a - b);
      const verb = bad.length === 1 ? 'uses' : 'use';
      return `${verb} ${ports.length === 1 ? 'hostPort' : 'hostPorts'} ${ports.join(', ')}`;
    },
  );
}

function seLinux(pod: KubeObject): string | undefined {
  const isBad = (context: SecurityContext | undefined): boolean => {
    const { type = '', user = '', role = '' } = context?.seLinuxOptions ?? {};
    return !SELINUX_TYPES.has(type) || user !== '' || role !== '';
  };
  const who = setters(pod, isBad);
  if (who === undefined) return undefined;
  const all = [securedSpec(pod).securityContext, ...securedContainers(pod).map((one) => one.securityContext)]
    .map((context) => context?.seLinuxOptions ?? {})
    .filter((options) => isBad({ seLinuxOptions: options }));
  const types = [...new Set(all.map(({ type = '' }) => type).filter((type) => !SELINUX_TYPES.has(type)))].sort();
  const texts = [
    ...(types.length === 0 ? [] : [`${types.length === 1 ? 'type' : 'types'} ${quotedList(types)}`]),
    ...(all.some(({ user = '' }) => user !== '') ? ['user may not be set'] : []),
    ...(all.some(({ role = '' }) => role !== '') ? ['role may not be set'] : []),
  ];
  return `${who} set forbidden securityContext.seLinuxOptions: ${texts.join('; ')}`;
}

function sysctls(pod: KubeObject): string | undefined {
  const names = (securedSpec(pod).securityContext?.sysctls ?? [])
    .map(({ name }) => name)
    .filter((name) => !SYSCTLS.has(name));
  return names.length === 0 ? undefined : names.join(', ');
}

function setting(text: string, isBad: (context: SecurityContext | undefined) => boolean) {
  return (pod: KubeObject): string | undefined => {
    const who = setters(pod, isBad);
    return who === undefined ? undefined : `${who} must not set ${text}`;
  };
}

/** Pod Security Standards, "Baseline": no known way out of the container. */
export const BASELINE_CHECKS: readonly SecurityCheck[] = [
  { id: 'appArmorProfile', reason: 'forbidden AppArmor profile', detail: appArmor },
  {
    id: 'capabilities',
    reason: 'non-default capabilities',
    detail: (pod) =>
      offending(
        pod,
        (container) => addedCapabilities(container).length > 0,
        (bad) => {
          const added = [...new Set(bad.flatMap(addedCapabilities))].sort();
          return `must not include ${quotedList(added)} in securityContext.capabilities.add`;
        },
      ),
  },
  { id: 'hostNamespaces', reason: 'host namespaces', detail: hostNamespaces },
  { id: 'hostPathVolumes', reason: 'hostPath volumes', detail: hostPathVolumes },
  { id: 'hostPorts', reason: 'hostPort', detail: hostPorts },
  {
    id: 'privileged',
    reason: 'privileged',
    detail: (pod) =>
      offending(
        pod,
        ({ securityContext }) => securityContext?.privileged === true,
        () => 'must not set securityContext.privileged=true',
      ),
  },
  {
    id: 'procMount',
    reason: 'procMount',
    detail: (pod) =>
      offending(
        pod,
        ({ securityContext }) => (securityContext?.procMount ?? 'Default') !== 'Default',
        (bad) => {
          const types = new Set(bad.map(({ securityContext }) => securityContext?.procMount ?? ''));
          return `must not set securityContext.procMount to ${quotedList(types)}`;
        },
      ),
  },
  { id: 'seLinuxOptions', reason: 'seLinuxOptions', detail: seLinux },
  {
    id: 'seccompProfile',
    reason: 'seccompProfile',
    detail: setting(
      'securityContext.seccompProfile.type to "Unconfined"',
      (context) => context?.seccompProfile?.type === 'Unconfined',
    ),
  },
  { id: 'sysctls', reason: 'forbidden sysctls', detail: sysctls },
  {
    id: 'windowsHostProcess',
    reason: 'hostProcess',
    detail: setting(
      'securityContext.windowsOptions.hostProcess=true',
      (context) => context?.windowsOptions?.hostProcess === true,
    ),
  },
];
