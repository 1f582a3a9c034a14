import { duplicate, invalid, required, type FieldError } from '../../errors/field-error';
import type { PodSecurityContext, PodSpec, SecurityContext, Sysctl } from '../../schema/generated/core-v1';
import { byteLength } from '../syntax-error';
import { validateHostNetworkPorts } from './container-ports';
import { validateOneOf, validateRange, validateRequiredOneOf } from './field-rules';
import { validateSeccompProfile } from './seccomp';
import { validateWindowsOptions } from './windows-options';
import { checkEach } from '../check-each';

const MAX_ID = 2_147_483_647;

/** A user or a group, by number. */
function validateId(id: number | bigint | undefined, field: string): readonly FieldError[] {
  return validateRange(id, 0, MAX_ID, field);
}

const SYSCTL = '([a-z0-9]([-_a-z0-9]*[a-z0-9])?\\.)*[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const SYSCTL_MAX_BYTES = 253;
const sysctlPattern = new RegExp(`^${SYSCTL}$`);

function validateSysctls(sysctls: readonly Sysctl[] | undefined, path: string): readonly FieldError[] {
  const taken = new Set<string>();
  return checkEach(sysctls, ({ name = '' }, index) => {
    const field = `${path}[${index}].name`;
    if (name === '') return [required(field, '')];
    const known = taken.has(name);
    taken.add(name);
    // The length comes first: the pattern is slow on long texts.
    if (byteLength(name) > SYSCTL_MAX_BYTES || !sysctlPattern.test(name)) {
      return [invalid(field, name, `must have at most ${SYSCTL_MAX_BYTES} characters and match regex ${SYSCTL}`)];
    }
    return known ? [duplicate(field, name)] : [];
  });
}

const GROUP_CHANGE_POLICIES = ['Always', 'OnRootMismatch'];

/** What holds for the pod as a whole. The fields of namespaces that it shares with the node stand in the spec. */
export function validatePodSecurityContext(
  context: PodSecurityContext | undefined,
  spec: PodSpec,
  specPath: string,
): readonly FieldError[] {
  if (context === undefined) return [];
  const path = `${specPath}.securityContext`;
  const policy = context.fsGroupChangePolicy;
  return [
    ...(spec.hostNetwork ? validateHostNetworkPorts(spec.containers ?? [], `${specPath}.containers`) : []),
    ...validateId(context.fsGroup, `${path}.fsGroup`),
    ...validateId(context.runAsUser, `${path}.runAsUser`),
    ...validateId(context.runAsGroup, `${path}.runAsGroup`),
    ...checkEach(context.supplementalGroups, (group, index) =>
      validateId(group, `${path}.supplementalGroups[${index}]`),
    ),
    ...(spec.hostPID && spec.shareProcessNamespace
      ? [invalid(`${path}.shareProcessNamespace`, true, 'ShareProcessNamespace and HostPID cannot both be enabled')]
      : []),
    ...validateSysctls(context.sysctls, `${path}.sysctls`),
    ...(policy === undefined ? [] : validateOneOf(policy, GROUP_CHANGE_POLICIES, `${path}.fsGroupChangePolicy`)),
    ...validateSeccompProfile(context.seccompProfile, `${path}.seccompProfile`),
    ...validateWindowsOptions(context.windowsOptions, `${path}.windowsOptions`),
  ];
}

/** A privileged process can do everything, among it raise its privileges. */
function validateEscalation(context: SecurityContext, path: string): readonly FieldError[] {
  if (context.allowPrivilegeEscalation !== false) return [];
  const added = (context.capabilities?.add ?? []).filter((capability) => capability === 'CAP_SYS_ADMIN');
  return [
    ...(context.privileged
      ? [invalid(path, context, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true')]
      : []),
    ...added.map(() =>
      invalid(path, context, 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN'),
    ),
  ];
}

const PROC_MOUNTS = ['Default', 'Unmasked'];

/** What holds for one container. */
export function validateSecurityContext(context: SecurityContext | undefined, path: string): readonly FieldError[] {
  if (context === undefined) return [];
  return [
    ...validateId(context.runAsUser, `${path}.runAsUser`),
    ...validateId(context.runAsGroup, `${path}.runAsGroup`),
    ...(context.procMount === undefined
      ? []
      : validateRequiredOneOf(context.procMount, PROC_MOUNTS, `${path}.procMount`)),
    ...validateSeccompProfile(context.seccompProfile, `${path}.seccompProfile`),
    ...validateEscalation(context, path),
    ...validateWindowsOptions(context.windowsOptions, `${path}.windowsOptions`),
  ];
}
