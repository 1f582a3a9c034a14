import type { FieldError } from '../../errors/field-error';
import { checkAfter, checkEach } from '../check-each';
import type { PodSpec } from '../../schema/generated/core-v1';
import { validateLabels } from '../object-meta';
import { validateAffinity } from './affinity';
import { validateContainers, validateEphemeralContainers, validateInitContainers } from './containers';
import { validateDnsConfig, validateHostAliases } from './dns';
import {
  validateDnsLabel,
  validateDnsSubdomain,
  validateQualifiedName,
  validateRange,
  validateRequiredOneOf,
} from './field-rules';
import { validateResourceRequirements } from './resources';
import { validatePodSecurityContext } from './security-context';
import { validateTolerations } from './tolerations';
import { validateTopologySpread } from './topology-spread';
import { validateVolumes } from './volumes';

const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];
const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const PREEMPTION_POLICIES = ['PreemptLowerPriority', 'Never'];
const OPERATING_SYSTEMS = ['linux', 'windows'];
export const MAX_DEADLINE_SECONDS = 2_147_483_647;

type NameRule = (name: string, field: string) => readonly FieldError[];

/** An empty name is none. */
function optionalName(name: string | undefined, rule: NameRule, field: string): readonly FieldError[] {
  return name === undefined || name === '' ? [] : rule(name, field);
}

function validateAllContainers(spec: PodSpec, podName: string, path: string): readonly FieldError[] {
  const { errors, usable } = validateVolumes(spec.volumes, podName, `${path}.volumes`);
  const containers = spec.containers ?? [];
  const init = spec.initContainers ?? [];
  const ephemeral = spec.ephemeralContainers ?? [];
  return [
    ...errors,
    ...checkAfter(() => [
      ...validateContainers(containers, usable, `${path}.containers`),
      ...validateInitContainers(init, containers, usable, `${path}.initContainers`),
      ...validateEphemeralContainers(ephemeral, [...containers, ...init], usable, `${path}.ephemeralContainers`),
    ]),
  ];
}

function validatePlacement(spec: PodSpec, path: string): readonly FieldError[] {
  const { preemptionPolicy, runtimeClassName, overhead, os } = spec;
  return [
    ...optionalName(spec.serviceAccountName, validateDnsSubdomain, `${path}.serviceAccountName`),
    ...optionalName(spec.nodeName, validateDnsSubdomain, `${path}.nodeName`),
    ...validateRange(spec.activeDeadlineSeconds, 1, MAX_DEADLINE_SECONDS, `${path}.activeDeadlineSeconds`),
    ...optionalName(spec.hostname, validateDnsLabel, `${path}.hostname`),
    ...optionalName(spec.subdomain, validateDnsLabel, `${path}.subdomain`),
    ...validateTolerations(spec.tolerations, `${path}.tolerations`),
    ...validateHostAliases(spec.hostAliases, `${path}.hostAliases`),
    ...optionalName(spec.priorityClassName, validateDnsSubdomain, `${path}.priorityClassName`),
    ...(runtimeClassName === undefined ? [] : validateDnsSubdomain(runtimeClassName, `${path}.runtimeClassName`)),
    ...(preemptionPolicy === undefined
      ? []
      : validateRequiredOneOf(preemptionPolicy, PREEMPTION_POLICIES, `${path}.preemptionPolicy`)),
    ...(overhead === undefined ? [] : validateResourceRequirements({ limits: overhead }, `${path}.overhead`)),
    ...(os === undefined ? [] : validateRequiredOneOf(os.name, OPERATING_SYSTEMS, `${path}.os.name`)),
  ];
}

/** The spec of a pod or of a template, defaults applied. `podName` is empty in templates. */
export function validatePodSpec(spec: PodSpec, podName: string, path: string): readonly FieldError[] {
  return [
    ...validateAllContainers(spec, podName, path),
    ...validateRequiredOneOf(spec.restartPolicy, RESTART_POLICIES, `${path}.restartPolicy`),
    ...validateRequiredOneOf(spec.dnsPolicy, DNS_POLICIES, `${path}.dnsPolicy`),
    ...validateLabels(spec.nodeSelector, `${path}.nodeSelector`),
    ...validatePodSecurityContext(spec.securityContext, spec, path),
    ...validateAffinity(spec.affinity, `${path}.affinity`),
    ...validateDnsConfig(spec.dnsConfig, spec.dnsPolicy, `${path}.dnsConfig`),
    ...checkEach(spec.readinessGates, ({ conditionType = '' }, index) =>
      validateQualifiedName(conditionType, `${path}.readinessGates[${index}].conditionType`),
    ),
    ...validateTopologySpread(spec.topologySpreadConstraints, `${path}.topologySpreadConstraints`),
    ...validatePlacement(spec, path),
  ];
}
