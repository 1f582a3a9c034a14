import { duplicate, forbiddenField, invalid, notSupported, required, type FieldError } from '../errors/field-error';
import type { KubeObject } from '../object';
import type { AllowedHostPath, IDRange, PodSecurityPolicySpec } from '../schema/generated/policy-v1beta1';
import { invalidLiteral, stringListLiteral } from './go-literal';
import { dnsSubdomainName } from './names';
import { validateCsiDriverName } from './csi';
import { invalidBecause } from './pod/field-rules';
import { hasParentStep } from './pod/paths';
import { repetitionsInOrder } from './repetitions';
import { checkEach } from './check-each';

const USER_RULES = ['MustRunAs', 'MustRunAsNonRoot', 'RunAsAny'];
const GROUP_RULES = ['MayRunAs', 'MustRunAs', 'RunAsAny'];
/** In the order of the wire. */
const RUN_AS_GROUP_RULES = ['MustRunAs', 'RunAsAny', 'MayRunAs'];
const LINUX_RULES = ['MustRunAs', 'RunAsAny'];
const VOLUMES = [
  '*',
  'awsElasticBlockStore',
  'azureDisk',
  'azureFile',
  'cephFS',
  'cinder',
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'fc',
  'flexVolume',
  'flocker',
  'gcePersistentDisk',
  'gitRepo',
  'glusterfs',
  'hostPath',
  'iscsi',
  'nfs',
  'persistentVolumeClaim',
  'photonPersistentDisk',
  'portworxVolume',
  'projected',
  'quobyte',
  'rbd',
  'scaleIO',
  'secret',
  'storageos',
  'vsphereVolume',
];
const PROC_MOUNTS = ['Default', 'Unmasked'];
const SYSCTL = '([a-z0-9]([-_a-z0-9]*[a-z0-9])?\\.)*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]';
const sysctlPattern = new RegExp(`^(?:${SYSCTL})$`);
const MAX_SYSCTL_LENGTH = 253;

interface Rule {
  readonly rule?: string;
  readonly ranges?: readonly IDRange[] | null;
}

function validateRanges(ranges: readonly IDRange[], path: string): readonly FieldError[] {
  return checkEach(ranges, ({ min = 0, max = 0 }, index) => [
    ...(min < 0 ? [invalid(`${path}[${index}].min`, min, 'min cannot be negative')] : []),
    ...(max < 0 ? [invalid(`${path}[${index}].max`, max, 'max cannot be negative')] : []),
    ...(min > max ? [invalid(`${path}[${index}].min`, min, 'min cannot be greater than max')] : []),
  ]);
}

function validateRule({ rule = '', ranges }: Rule, rules: readonly string[], path: string): readonly FieldError[] {
  return [
    ...(rules.includes(rule) ? [] : [notSupported(`${path}.rule`, rule, rules)]),
    ...validateRanges(ranges ?? [], `${path}.ranges`),
  ];
}

/** The ranges of a rule that is none are not looked at; one that allows all has none. */
function validateRunAsGroup(group: Rule): readonly FieldError[] {
  const { rule = '' } = group;
  if (!RUN_AS_GROUP_RULES.includes(rule)) return [notSupported('spec.runAsGroup.rule', rule, RUN_AS_GROUP_RULES)];
  const ranges = group.ranges ?? [];
  if (rule !== 'RunAsAny' || ranges.length === 0) return validateRanges(ranges, 'spec.runAsGroup.ranges');
  const printed = ranges.map(({ min = 0, max = 0 }) => `policy.IDRange{Min:${min}, Max:${max}}`);
  return [invalidLiteral('spec.runAsGroup.ranges', `[]policy.IDRange{${printed.join(', ')}}`, 'Ranges must be empty')];
}

/** What is dropped cannot be added at once; the path is the wire's, without the spec. */
function validateNotDropped(dropped: readonly string[], added: readonly string[], field: string) {
  if (added.length === 0) return [];
  const unwanted = new Set(dropped);
  const detail = `capability is listed in ${field} and requiredDropCapabilities`;
  return checkEach(added, (capability) => (unwanted.has(capability) ? [invalid(field, capability, detail)] : []));
}

function validateCapabilities(spec: PodSecurityPolicySpec): readonly FieldError[] {
  const dropped = spec.requiredDropCapabilities ?? [];
  const allowed = spec.allowedCapabilities ?? [];
  return [
    ...(dropped.length > 0 && allowed.includes('*')
      ? [
          invalidLiteral(
            'spec.requiredDropCapabilities',
            stringListLiteral('[]core.Capability', dropped),
            'must be empty when all capabilities are allowed by a wildcard',
          ),
        ]
      : []),
    ...validateNotDropped(dropped, spec.defaultAddCapabilities ?? [], 'defaultAddCapabilities'),
    ...validateNotDropped(dropped, allowed, 'allowedCapabilities'),
  ];
}

function validateEscalation(spec: PodSecurityPolicySpec): readonly FieldError[] {
  const isContradiction = spec.defaultAllowPrivilegeEscalation === true && spec.allowPrivilegeEscalation === false;
  const detail =
    'Cannot set DefaultAllowPrivilegeEscalation to true without also setting AllowPrivilegeEscalation to true';
  return isContradiction ? [invalid('spec.defaultAllowPrivilegeEscalation', true, detail)] : [];
}

/** None is looked at after the first that is missing. */
function validateHostPaths(paths: readonly AllowedHostPath[]): readonly FieldError[] {
  const missing = paths.findIndex(({ pathPrefix = '' }) => pathPrefix === '');
  const given = missing < 0 ? paths : paths.slice(0, missing);
  return [
    ...checkEach(given, ({ pathPrefix = '' }, index) =>
      hasParentStep(pathPrefix)
        ? [invalid(`spec.allowedHostPaths[${index}]`, pathPrefix, "must not contain '..'")]
        : [],
    ),
    ...(missing < 0 ? [] : [required(`spec.allowedHostPaths[${missing}]`, 'is required')]),
  ];
}

function validateDrivers(spec: PodSecurityPolicySpec): readonly FieldError[] {
  return [
    ...checkEach(spec.allowedFlexVolumes, ({ driver = '' }, index) =>
      // The doubled name is the wire's.
      driver === ''
        ? [required(`spec.allowedFlexVolumes.allowedFlexVolumes[${index}].driver`, 'must specify a driver')]
        : [],
    ),
    ...checkEach(spec.allowedCSIDrivers, ({ name = '' }, index) =>
      validateCsiDriverName(name, `spec.allowedCSIDrivers.allowedCSIDriver[${index}].name`),
    ),
  ];
}

function validateSysctls(sysctls: readonly string[], path: string): readonly FieldError[] {
  const detail = `must have at most ${MAX_SYSCTL_LENGTH} characters and match regex ${SYSCTL}`;
  return [
    ...checkEach(sysctls, (sysctl, index) => {
      const field = `${path}[${index}]`;
      if (sysctl === '') return [invalid(field, sysctl, 'empty sysctl not allowed')];
      return sysctl.length <= MAX_SYSCTL_LENGTH && sysctlPattern.test(sysctl) ? [] : [invalid(field, sysctl, detail)];
    }),
    ...(sysctls.length > 1 && sysctls.includes('*')
      ? [forbiddenField(`${path}.items`, "if '*' is present, must not specify other sysctls")]
      : []),
  ];
}

/**
 * Names and patterns, among which those are found that overlap with another: a pattern that ends in a star covers what begins like it.
 * Found without a look at all others, as the two lists may be long.
 */
class SysctlIndex {
  /** In their order as texts, where those that begin alike stand side by side. */
  private sorted: readonly string[] | undefined;
  private readonly all: ReadonlySet<string>;

  constructor(sysctls: readonly string[]) {
    this.all = new Set(sysctls);
  }

  overlapsWith(sysctl: string): boolean {
    if (this.all.has(sysctl)) return true;
    for (let end = 0; end <= Math.min(sysctl.length, MAX_SYSCTL_LENGTH); end += 1)
      if (this.all.has(`${sysctl.slice(0, end)}*`)) return true;
    return sysctl.endsWith('*') && this.hasBeginning(sysctl.slice(0, -1));
  }

  private hasBeginning(beginning: string): boolean {
    const sorted = (this.sorted ??= [...this.all].sort());
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((sorted[middle] as string) < beginning) low = middle + 1;
      else high = middle;
    }
    return sorted[low]?.startsWith(beginning) === true;
  }
}

function overlaps(left: string, right: string): boolean {
  const covers = (pattern: string, name: string): boolean =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
  return covers(left, right) || covers(right, left);
}

function validateAllSysctls({ allowedUnsafeSysctls, forbiddenSysctls }: PodSecurityPolicySpec): readonly FieldError[] {
  const allowed = allowedUnsafeSysctls ?? [];
  const forbidden = forbiddenSysctls ?? [];
  let index: SysctlIndex | undefined;
  return [
    ...validateSysctls(allowed, 'spec.allowedUnsafeSysctls'),
    ...validateSysctls(forbidden, 'spec.forbiddenSysctls'),
    ...checkEach(allowed, (sysctl, position) =>
      !(index ??= new SysctlIndex(forbidden)).overlapsWith(sysctl)
        ? []
        : checkEach(forbidden, (other) =>
            overlaps(sysctl, other)
              ? [invalid(`spec.allowedUnsafeSysctls[${position}]`, sysctl, `sysctl overlaps with ${other}`)]
              : [],
          ),
    ),
  ];
}

function validateRuntimeClasses({ runtimeClass }: PodSecurityPolicySpec): readonly FieldError[] {
  if (!runtimeClass) return [];
  const path = 'spec.runtimeClass.allowedRuntimeClassNames';
  const { defaultRuntimeClassName: byDefault } = runtimeClass;
  const names = runtimeClass.allowedRuntimeClassNames ?? [];
  const isRepeated = repetitionsInOrder();
  const allowsAll = names.includes('*');
  const detail = "if '*' is present, must not specify other RuntimeClass names";
  return [
    ...checkEach(names, (name, index) => [
      ...(name === '*' ? [] : invalidBecause(`${path}[${index}]`, name, dnsSubdomainName(name, false))),
      ...(isRepeated(name) ? [duplicate(`${path}[${index}]`, name)] : []),
    ]),
    ...(byDefault === undefined || byDefault === null
      ? []
      : [
          ...invalidBecause('spec.runtimeClass.defaultRuntimeClassName', byDefault, dnsSubdomainName(byDefault, false)),
          ...(allowsAll || names.includes(byDefault)
            ? []
            : [required(path, `default ${JSON.stringify(byDefault)} must be allowed`)]),
        ]),
    ...(allowsAll && names.length > 1 ? [invalidLiteral(path, stringListLiteral('[]string', names), detail)] : []),
  ];
}

/** All problems of a policy's spec: also what an update checks. */
export function validatePodSecurityPolicy(object: KubeObject): readonly FieldError[] {
  const spec = (object['spec'] ?? {}) as PodSecurityPolicySpec;
  return [
    ...validateRule(spec.runAsUser ?? {}, USER_RULES, 'spec.runAsUser'),
    ...(spec.runAsGroup ? validateRunAsGroup(spec.runAsGroup) : []),
    ...validateRule({ rule: spec.seLinux?.rule ?? '' }, LINUX_RULES, 'spec.seLinux'),
    ...validateRule(spec.supplementalGroups ?? {}, GROUP_RULES, 'spec.supplementalGroups'),
    ...validateRule(spec.fsGroup ?? {}, GROUP_RULES, 'spec.fsGroup'),
    ...checkEach(spec.volumes, (volume) =>
      VOLUMES.includes(volume) ? [] : [notSupported('spec.volumes', volume, VOLUMES)],
    ),
    ...validateCapabilities(spec),
    ...validateEscalation(spec),
    ...checkEach(spec.allowedProcMountTypes, (type, index) =>
      PROC_MOUNTS.includes(type) ? [] : [notSupported(`spec.allowedProcMountTypes[${index}]`, type, PROC_MOUNTS)],
    ),
    ...validateHostPaths(spec.allowedHostPaths ?? []),
    ...validateDrivers(spec),
    ...validateAllSysctls(spec),
    ...validateRuntimeClasses(spec),
  ];
}
