import { forbiddenField, invalid, required, type FieldError } from '../../errors/field-error';
import { checkEach } from '../check-each';
import type {
  DownwardAPIVolumeFile,
  KeyToPath,
  ProjectedVolumeSource,
  ServiceAccountTokenProjection,
  VolumeProjection,
} from '../../schema/generated/core-v1';
import { FILE_FIELDS, validateFieldRef, validateResourceFieldRef } from './field-references';
import { validateFileMode, validatePresent } from './field-rules';
import { validateUnreservedPath } from './paths';

/** Volumes made of keys of secrets and config maps, of the pod's own fields, and of tokens. */

const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;

/** A key of a secret or a config map, and the file that it becomes. */
export function validateKeyToPath({ key, path: file = '', mode }: KeyToPath, path: string): readonly FieldError[] {
  return [
    ...validatePresent(key, `${path}.key`),
    ...validatePresent(file, `${path}.path`),
    ...validateUnreservedPath(file, `${path}.path`),
    ...validateFileMode(mode, `${path}.mode`),
  ];
}

export function validateKeysToPaths(items: readonly KeyToPath[] | undefined, path: string): readonly FieldError[] {
  return checkEach(items, (item, index) => validateKeyToPath(item, `${path}[${index}]`));
}

/** A file that shows a field of the pod. */
export function validateFieldFile(file: DownwardAPIVolumeFile, path: string): readonly FieldError[] {
  const { path: name = '', fieldRef, resourceFieldRef, mode } = file;
  const errors = [
    ...validatePresent(name, `${path}.path`),
    ...validateUnreservedPath(name, `${path}.path`),
    ...(fieldRef ? validateFieldRef(fieldRef, FILE_FIELDS, `${path}.fieldRef`) : []),
  ];
  if (fieldRef && resourceFieldRef) {
    errors.push(invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'));
  } else if (resourceFieldRef) {
    errors.push(...validateResourceFieldRef(resourceFieldRef, true, `${path}.resourceFieldRef`));
  } else if (!fieldRef) {
    errors.push(required(path, 'one of fieldRef and resourceFieldRef is required'));
  }
  return [...errors, ...validateFileMode(mode, `${path}.mode`)];
}

/** The wire blames the volume for a token's path, and the source for its lifetime. */
function validateToken(
  { expirationSeconds = 0, path: file = '' }: ServiceAccountTokenProjection,
  volumePath: string,
  path: string,
): readonly FieldError[] {
  const field = `${path}.expirationSeconds`;
  return [
    ...(expirationSeconds < MIN_TOKEN_SECONDS
      ? [invalid(field, expirationSeconds, 'may not specify a duration less than 10 minutes')]
      : []),
    ...(expirationSeconds > MAX_TOKEN_SECONDS
      ? [invalid(field, expirationSeconds, 'may not specify a duration larger than 2^32 seconds')]
      : []),
    ...(file === '' ? [required(`${volumePath}.path`, '')] : validateUnreservedPath(file, `${volumePath}.path`)),
  ];
}

/** Remembers the files of all sources; two sources cannot write the same one. */
class FileNames {
  private readonly taken = new Set<string>();

  constructor(private readonly path: string) {}

  claim(file: string | undefined, blamed: string): readonly FieldError[] {
    if (file === undefined || file === '') return [];
    if (this.taken.has(file)) return [invalid(this.path, blamed, 'conflicting duplicate paths')];
    this.taken.add(file);
    return [];
  }
}

function validateKeySource(
  source: { readonly name?: string; readonly items?: readonly KeyToPath[] } | undefined,
  files: FileNames,
  path: string,
): readonly FieldError[] {
  if (source === undefined) return [];
  const name = source.name ?? '';
  return [
    ...validatePresent(name, `${path}.name`),
    ...checkEach(source.items, (item, index) => [
      ...validateKeyToPath(item, `${path}.items[${index}]`),
      ...files.claim(item.path, name),
    ]),
  ];
}

function validateProjection(
  source: VolumeProjection,
  files: FileNames,
  volumePath: string,
  path: string,
): readonly FieldError[] {
  const { secret, configMap, downwardAPI, serviceAccountToken } = source;
  const given = [secret, configMap, downwardAPI, serviceAccountToken].filter((one) => one !== undefined);
  return [
    ...validateKeySource(secret, files, `${path}.secret`),
    ...validateKeySource(configMap, files, `${path}.configMap`),
    ...checkEach(downwardAPI?.items, (file) => [
      ...validateFieldFile(file, `${path}.downwardAPI`),
      ...files.claim(file.path, file.path ?? ''),
    ]),
    ...(serviceAccountToken ? validateToken(serviceAccountToken, volumePath, `${path}.serviceAccountToken`) : []),
    ...(given.length > 1 ? [forbiddenField(path, 'may not specify more than 1 volume type')] : []),
  ];
}

export function validateProjectedVolume(volume: ProjectedVolumeSource, path: string): readonly FieldError[] {
  const files = new FileNames(path);
  return [
    ...validateFileMode(volume.defaultMode, `${path}.defaultMode`),
    ...checkEach(volume.sources, (source, index) =>
      validateProjection(source, files, path, `${path}.sources[${index}]`),
    ),
  ];
}
