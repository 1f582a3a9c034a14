import type { KubeObject } from '../api/object';
import {
  containersNamed,
  isWindows,
  quotedList,
  securedContainers,
  securedSpec,
  setters,
  type SecuredContainer,
  type SecurityCheck,
} from './pod-security-pod';

const VOLUME_TYPES = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
]);
const SECCOMP_TYPES = new Set(['RuntimeDefault', 'Localhost']);
const ALLOWED_CAPABILITY = 'NET_BIND_SERVICE';

function escalation(pod: KubeObject): string | undefined {
  if (isWindows(pod)) return undefined;
  const bad = securedContainers(pod).filter((one) => one.securityContext?.allowPrivilegeEscalation !== false);
  if (bad.length === 0) return undefined;
  return `${containersNamed(bad)} must set securityContext.allowPrivilegeEscalation=false`;
}

function capabilities(pod: KubeObject): string | undefined {
  if (isWindows(pod)) return undefined;
  const added = ({ securityContext }: SecuredContainer): readonly string[] =>
    (securityContext?.capabilities?.add ?? []).filter((one) => one !== ALLOWED_CAPABILITY);
  const keeping = securedContainers(pod).filter(
    ({ securityContext }) => !(securityContext?.capabilities?.drop ?? []).includes('ALL'),
  );
  const adding = securedContainers(pod).filter((one) => added(one).length > 0);
  const texts = [
    ...(keeping.length === 0 ? [] : [`${containersNamed(keeping)} must set securityContext.capabilities.drop=["ALL"]`]),
    ...(adding.length === 0
      ? []
      : [
          `${containersNamed(adding)} must not include ${quotedList([...new Set(adding.flatMap(added))].sort())} ` +
            'in securityContext.capabilities.add',
        ]),
  ];
  return texts.length === 0 ? undefined : texts.join('; ');
}

function volumes(pod: KubeObject): string | undefined {
  const bad = (securedSpec(pod).volumes ?? [])
    .map(({ name, ...sources }) => ({ name, type: Object.keys(sources)[0] ?? '' }))
    .filter(({ type }) => type !== '' && !VOLUME_TYPES.has(type));
  if (bad.length === 0) return undefined;
  const types = [...new Set(bad.map(({ type }) => type))].sort();
  const names = quotedList(bad.map(({ name }) => name));
  return bad.length === 1
    ? `volume ${names} uses restricted volume type ${quotedList(types)}`
    : `volumes ${names} use restricted volume ${types.length === 1 ? 'type' : 'types'} ${quotedList(types)}`;
}

function nonRoot(pod: KubeObject): string | undefined {
  const explicit = setters(pod, (context) => context?.runAsNonRoot === false);
  // A container's own yes counts for more than the pod's no.
  const containers = securedContainers(pod);
  if (explicit !== undefined && !containers.every((one) => one.securityContext?.runAsNonRoot === true)) {
    return `${explicit} must not set securityContext.runAsNonRoot=false`;
  }
  if (securedSpec(pod).securityContext?.runAsNonRoot === true) return undefined;
  const silent = containers.filter(({ securityContext }) => securityContext?.runAsNonRoot === undefined);
  if (silent.length === 0) return undefined;
  return `pod or ${containersNamed(silent)} must set securityContext.runAsNonRoot=true`;
}

function rootUser(pod: KubeObject): string | undefined {
  const who = setters(pod, (context) => context?.runAsUser === 0);
  return who === undefined ? undefined : `${who} must not set runAsUser=0`;
}

function seccomp(pod: KubeObject): string | undefined {
  if (isWindows(pod)) return undefined;
  const isBad = (type: string | undefined): boolean => type !== undefined && !SECCOMP_TYPES.has(type);
  const explicit = setters(pod, (context) => isBad(context?.seccompProfile?.type));
  if (explicit !== undefined) {
    const all = [securedSpec(pod).securityContext, ...securedContainers(pod).map((one) => one.securityContext)];
    const types = all.flatMap((context) => {
      const type = context?.seccompProfile?.type;
      return type !== undefined && isBad(type) ? [type] : [];
    });
    return `${explicit} must not set securityContext.seccompProfile.type to ${quotedList(new Set(types.sort()))}`;
  }
  if (securedSpec(pod).securityContext?.seccompProfile?.type !== undefined) return undefined;
  const silent = securedContainers(pod).filter((one) => one.securityContext?.seccompProfile?.type === undefined);
  if (silent.length === 0) return undefined;
  return `pod or ${containersNamed(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`;
}

/** Pod Security Standards, "Restricted": what is known to be good practice. */
export const RESTRICTED_CHECKS: readonly SecurityCheck[] = [
  { id: 'allowPrivilegeEscalation', reason: 'allowPrivilegeEscalation != false', detail: escalation },
  { id: 'capabilities', replaces: 'capabilities', reason: 'unrestricted capabilities', detail: capabilities },
  { id: 'restrictedVolumes', reason: 'restricted volume types', detail: volumes },
  { id: 'runAsNonRoot', reason: 'runAsNonRoot != true', detail: nonRoot },
  { id: 'runAsUser', reason: 'runAsUser=0', detail: rootUser },
  { id: 'seccompProfile', replaces: 'seccompProfile', reason: 'seccompProfile', detail: seccomp },
];
