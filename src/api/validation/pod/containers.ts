import { duplicate, forbiddenField, invalid, notFoundField, required, type FieldError } from '../../errors/field-error';
import { checkEach } from '../check-each';
import { invalidLiteral, lifecycleLiteral, probeLiteral } from '../go-literal';
import type { Container, EphemeralContainer } from '../../schema/generated/core-v1';
import { validateContainerPorts, validateHostPortConflicts } from './container-ports';
import { validateEnv, validateEnvFrom } from './environment';
import { validateDnsLabel, validatePresent, validateRequiredOneOf } from './field-rules';
import { validateLifecycle, validateLivenessProbes, validateReadinessProbe } from './probes';
import { validateResourceRequirements } from './resources';
import { validateSecurityContext } from './security-context';
import { validateVolumeDevices, validateVolumeMounts, type UsableVolumes } from './volume-mounts';

const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];
const MESSAGE_POLICIES = ['File', 'FallbackToLogsOnError'];

function validateMessagePolicy(policy: string | undefined, field: string): readonly FieldError[] {
  const detail = "must be 'File' or 'FallbackToLogsOnError'";
  if (policy === undefined || policy === '') return [required(field, detail)];
  return MESSAGE_POLICIES.includes(policy) ? [] : [invalid(field, policy, detail)];
}

/** Everything about one container but its name. */
function validateContainer(container: Container, volumes: UsableVolumes, path: string): readonly FieldError[] {
  return [
    ...validatePresent(container.image, `${path}.image`),
    ...validateLifecycle(container.lifecycle, `${path}.lifecycle`),
    ...validateLivenessProbes(container, path),
    ...validateMessagePolicy(container.terminationMessagePolicy, `${path}.terminationMessagePolicy`),
    ...validateReadinessProbe(container, path),
    ...validateContainerPorts(container.ports, `${path}.ports`),
    ...validateEnv(container.env, `${path}.env`),
    ...validateEnvFrom(container.envFrom, `${path}.envFrom`),
    ...validateVolumeMounts(container, volumes, `${path}.volumeMounts`),
    ...validateVolumeDevices(container, volumes, `${path}.volumeDevices`),
    ...validateRequiredOneOf(container.imagePullPolicy, PULL_POLICIES, `${path}.imagePullPolicy`),
    ...validateResourceRequirements(container.resources, `${path}.resources`),
    ...validateSecurityContext(container.securityContext, `${path}.securityContext`),
  ];
}

function validateNamedContainers(
  containers: readonly Container[],
  volumes: UsableVolumes,
  path: string,
): readonly FieldError[] {
  const taken = new Set<string>();
  return checkEach(containers, (container, index) => {
    const name = container.name ?? '';
    const field = `${path}[${index}]`;
    const repeated = taken.has(name);
    taken.add(name);
    return [
      ...(name === '' ? [required(`${field}.name`, '')] : validateDnsLabel(name, `${field}.name`)),
      ...(repeated ? [duplicate(`${field}.name`, name)] : []),
      ...validateContainer(container, volumes, field),
    ];
  });
}

/** The containers that run side by side; at least one. */
export function validateContainers(
  containers: readonly Container[],
  volumes: UsableVolumes,
  path: string,
): readonly FieldError[] {
  if (containers.length === 0) return [required(path, '')];
  return [...validateNamedContainers(containers, volumes, path), ...validateHostPortConflicts(containers, path)];
}

/** What init containers may not have, each with how it is printed. */
const NOT_FOR_INIT = [
  ['lifecycle', lifecycleLiteral],
  ['livenessProbe', probeLiteral],
  ['readinessProbe', probeLiteral],
  ['startupProbe', probeLiteral],
] as const;

/** Init containers run one after the other; those that are restarted always run on, beside the others. */
export function validateInitContainers(
  containers: readonly Container[],
  others: readonly Container[],
  volumes: UsableVolumes,
  path: string,
): readonly FieldError[] {
  if (containers.length === 0) return [];
  const taken = new Set(others.map(({ name = '' }) => name));
  const own = checkEach(containers, (container, index) => {
    const name = container.name ?? '';
    const field = `${path}[${index}]`;
    const repeated = taken.has(name);
    if (name !== '') taken.add(name);
    const refused = container.restartPolicy === 'Always' ? [] : NOT_FOR_INIT;
    return [
      ...(repeated ? [duplicate(`${field}.name`, name)] : []),
      ...refused
        .filter(([part]) => container[part] !== undefined)
        .map(([part, literal]) =>
          invalidLiteral(`${field}.${part}`, literal(container[part]), 'must not be set for init containers'),
        ),
    ];
  });
  return [
    ...validateNamedContainers(containers, volumes, path),
    ...checkEach(containers, (container) => validateHostPortConflicts([container], path)),
    ...own,
  ];
}

/** In the order of the container's fields. */
const NOT_FOR_EPHEMERAL = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
] as const;

const EPHEMERAL_DETAIL = 'cannot be set for an Ephemeral Container';

/** Paths inside a volume outlive a container that is never cleaned up. */
function validateWholeMounts({ volumeMounts = [] }: EphemeralContainer, path: string): readonly FieldError[] {
  return checkEach(volumeMounts, (mount, index) =>
    (['subPath', 'subPathExpr'] as const)
      .filter((part) => Boolean(mount[part]))
      .map((part) => forbiddenField(`${path}[${index}].${part}`, EPHEMERAL_DETAIL)),
  );
}

function isSet(value: unknown): boolean {
  if (value === undefined) return false;
  return typeof value !== 'object' || value === null || Object.keys(value).length > 0;
}

/** Containers that come later, for looking into a running pod: nothing may depend on them. */
export function validateEphemeralContainers(
  containers: readonly EphemeralContainer[],
  others: readonly Container[],
  volumes: UsableVolumes,
  path: string,
): readonly FieldError[] {
  if (containers.length === 0) return [];
  const taken = new Set(others.map(({ name = '' }) => name));
  const targets = new Set(taken);
  return checkEach(containers, (container, index) => {
    const { name = '', targetContainerName = '' } = container;
    const field = `${path}[${index}]`;
    const errors: FieldError[] = [];
    if (targetContainerName !== '' && !targets.has(targetContainerName)) {
      errors.push(notFoundField(`${field}.targetContainerName`, targetContainerName));
    }
    if (name === '') return [...errors, required(field, 'ephemeralContainer requires a name')];
    const repeated = taken.has(name);
    taken.add(name);
    return [
      ...errors,
      ...validateDnsLabel(name, `${field}.name`),
      ...validateContainer(container, volumes, field),
      ...validateImageSpelling(container, field),
      ...(repeated ? [duplicate(`${field}.name`, name)] : []),
      ...NOT_FOR_EPHEMERAL.filter((part) => isSet(container[part])).map((part) =>
        forbiddenField(`${field}.${part}`, EPHEMERAL_DETAIL),
      ),
      ...validateWholeMounts(container, `${field}.volumeMounts`),
    ];
  });
}

/** Pods check this, templates do not: some contain a blank for a controller to replace. */
export function validateImageSpelling({ image = '' }: Container, path: string): readonly FieldError[] {
  return image.trim() === image
    ? []
    : [invalid(`${path}.image`, image, 'must not have leading or trailing whitespace')];
}
