import { forbiddenField, invalid, notFoundField, required, type FieldError } from '../../errors/field-error';
import { checkEach } from '../check-each';
import type { Container, Volume, VolumeDevice, VolumeMount } from '../../schema/generated/core-v1';
import { validateOneOf, validatePresent } from './field-rules';
import { hasParentStep, validateDescendingPath } from './paths';

/** The volumes of a pod that are well-formed, by name: what containers can mount. */
export type UsableVolumes = ReadonlyMap<string, Volume>;

const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None'];

function validatePropagation(
  propagation: string | undefined,
  { securityContext }: Container,
  field: string,
): readonly FieldError[] {
  if (propagation === undefined) return [];
  const errors = validateOneOf(propagation, PROPAGATIONS, field);
  return propagation === 'Bidirectional' && securityContext?.privileged !== true
    ? [...errors, forbiddenField(field, 'Bidirectional mount propagation is available only to privileged containers')]
    : errors;
}

/** Paths within the volume. The wire names the list and not its item. */
function validateSubPaths({ subPath = '', subPathExpr = '' }: VolumeMount, path: string, field: string): FieldError[] {
  return [
    ...(subPath === '' ? [] : validateDescendingPath(subPath, `${path}.subPath`)),
    ...(subPath === '' || subPathExpr === ''
      ? []
      : [invalid(`${field}.subPathExpr`, subPathExpr, 'subPathExpr and subPath are mutually exclusive')]),
    ...(subPathExpr === '' ? [] : validateDescendingPath(subPathExpr, `${path}.subPathExpr`)),
  ];
}

export function validateVolumeMounts(
  container: Container,
  volumes: UsableVolumes,
  path: string,
): readonly FieldError[] {
  const mounts = container.volumeMounts ?? [];
  const devices = container.volumeDevices ?? [];
  const deviceNames = new Set(devices.map((device) => device.name));
  const devicePaths = new Set(devices.map(({ devicePath }) => devicePath));
  const taken = new Set<string>();
  return checkEach(mounts, (mount, index) => {
    const { name = '', mountPath = '' } = mount;
    const field = `${path}[${index}]`;
    const errors = [...validatePresent(name, `${field}.name`)];
    if (!volumes.has(name)) errors.push(notFoundField(`${field}.name`, name));
    if (mountPath === '') errors.push(required(`${field}.mountPath`, ''));
    if (taken.has(mountPath)) errors.push(invalid(`${field}.mountPath`, mountPath, 'must be unique'));
    taken.add(mountPath);
    if (deviceNames.has(name)) {
      errors.push(invalid(`${field}.name`, name, 'must not already exist in volumeDevices'));
    }
    if (devicePaths.has(mountPath)) {
      errors.push(invalid(`${field}.mountPath`, mountPath, 'must not already exist as a path in volumeDevices'));
    }
    return [
      ...errors,
      ...validateSubPaths(mount, path, field),
      ...validatePropagation(mount.mountPropagation, container, `${path}.mountPropagation`),
    ];
  });
}

function isBlockVolume({ persistentVolumeClaim, ephemeral }: Volume): boolean {
  return persistentVolumeClaim !== undefined || ephemeral !== undefined;
}

function validateDeviceVolume(name: string, volume: Volume | undefined, field: string): readonly FieldError[] {
  if (volume === undefined) return [notFoundField(field, name)];
  return isBlockVolume(volume)
    ? []
    : [invalid(field, name, 'can only use volume source type of PersistentVolumeClaim for block mode')];
}

function validateDevice(
  { name = '', devicePath = '' }: VolumeDevice,
  field: string,
  volumes: UsableVolumes,
  taken: { readonly names: ReadonlySet<string>; readonly paths: ReadonlySet<string> },
): readonly FieldError[] {
  return [
    ...validatePresent(name, `${field}.name`),
    ...(taken.names.has(name) ? [invalid(`${field}.name`, name, 'must be unique')] : []),
    ...validateDeviceVolume(name, volumes.get(name), `${field}.name`),
    ...validatePresent(devicePath, `${field}.devicePath`),
    ...(taken.paths.has(devicePath) ? [invalid(`${field}.devicePath`, devicePath, 'must be unique')] : []),
    ...(hasParentStep(devicePath)
      ? [invalid(`${field}.devicePath`, devicePath, "can not contain backsteps ('..')")]
      : []),
  ];
}

/** Raw block devices. */
export function validateVolumeDevices(
  { volumeDevices = [], volumeMounts = [] }: Container,
  volumes: UsableVolumes,
  path: string,
): readonly FieldError[] {
  const taken = { names: new Set<string>(), paths: new Set<string>() };
  const mountNames = new Set(volumeMounts.map((mount) => mount.name));
  const mountPaths = new Set(volumeMounts.map(({ mountPath }) => mountPath));
  return checkEach(volumeDevices, (device, index) => {
    const { name = '', devicePath = '' } = device;
    const field = `${path}[${index}]`;
    const errors = [...validateDevice(device, field, volumes, taken)];
    if (!hasParentStep(devicePath)) taken.paths.add(devicePath);
    if (name !== '') taken.names.add(name);
    if (mountNames.has(name)) {
      errors.push(invalid(`${field}.name`, name, 'must not already exist in volumeMounts'));
    }
    if (mountPaths.has(devicePath)) {
      errors.push(invalid(`${field}.devicePath`, devicePath, 'must not already exist as a path in volumeMounts'));
    }
    return errors;
  });
}
