import { forbiddenField, invalid, required, type FieldError } from '../../errors/field-error';
import { checkEach } from '../check-each';
import type { ObjectMeta } from '../../object';
import { keysOf } from '../../parts';
import type { PodSpec, SeccompProfile } from '../../schema/generated/core-v1';
import { validateRequiredOneOf } from './field-rules';
import { validateDescendingPath } from './paths';

/** Seccomp profiles: fields, and the annotations that said the same before there were fields. */

export const SECCOMP_POD_ANNOTATION = 'seccomp.security.alpha.kubernetes.io/pod';
export const SECCOMP_CONTAINER_ANNOTATION_PREFIX = 'container.seccomp.security.alpha.kubernetes.io/';

const UNCONFINED = 'unconfined';
const RUNTIME_DEFAULT = 'runtime/default';
const RUNTIME_DEFAULTS = [RUNTIME_DEFAULT, 'docker/default'];
const LOCALHOST_PREFIX = 'localhost/';

const TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined'];

export function validateSeccompProfile(profile: SeccompProfile | undefined, path: string): readonly FieldError[] {
  if (profile === undefined) return [];
  const { type = '', localhostProfile } = profile;
  const field = `${path}.localhostProfile`;
  const errors =
    type === ''
      ? [required(`${path}.type`, 'type is required when seccompProfile is set')]
      : validateRequiredOneOf(type, TYPES, `${path}.type`);
  if (type === 'Localhost') {
    return localhostProfile === undefined
      ? [...errors, required(field, 'must be set when seccomp type is Localhost')]
      : [...errors, ...validateDescendingPath(localhostProfile, field)];
  }
  return localhostProfile === undefined
    ? errors
    : [...errors, invalid(field, profile, 'can only be set when seccomp type is Localhost')];
}

/** The annotation that says what the field says; undefined for a field that says nothing. */
export function annotationOfProfile({ type, localhostProfile }: SeccompProfile): string | undefined {
  switch (type) {
    case 'Unconfined':
      return UNCONFINED;
    case 'RuntimeDefault':
      return RUNTIME_DEFAULT;
    case 'Localhost':
      return localhostProfile === undefined ? undefined : `${LOCALHOST_PREFIX}${localhostProfile}`;
    default:
      return undefined;
  }
}

/** The inverse of {@link annotationOfProfile}. */
export function profileOfAnnotation(annotation: string): SeccompProfile | undefined {
  if (annotation === UNCONFINED) return { type: 'Unconfined' };
  if (RUNTIME_DEFAULTS.includes(annotation)) return { type: 'RuntimeDefault' };
  const file = annotation.startsWith(LOCALHOST_PREFIX) ? annotation.slice(LOCALHOST_PREFIX.length) : '';
  return file === '' ? undefined : { type: 'Localhost', localhostProfile: file };
}

function validateAnnotation(annotation: string, field: string): readonly FieldError[] {
  if (annotation === UNCONFINED || RUNTIME_DEFAULTS.includes(annotation)) return [];
  return annotation.startsWith(LOCALHOST_PREFIX)
    ? validateDescendingPath(annotation.slice(LOCALHOST_PREFIX.length), field)
    : [invalid(field, annotation, 'must be a valid seccomp profile')];
}

export function validateSeccompAnnotations(
  annotations: Readonly<Record<string, string>>,
  path: string,
): readonly FieldError[] {
  const ofPod = annotations[SECCOMP_POD_ANNOTATION];
  return [
    ...(ofPod === undefined ? [] : validateAnnotation(ofPod, `${path}.${SECCOMP_POD_ANNOTATION}`)),
    ...checkEach(
      keysOf(annotations).filter((key) => key.startsWith(SECCOMP_CONTAINER_ANNOTATION_PREFIX)),
      (key) => validateAnnotation(annotations[key] as string, `${path}.${key}`),
    ),
  ];
}

function validateMatch(
  annotation: string | undefined,
  profile: SeccompProfile | undefined,
  path: string,
): readonly FieldError[] {
  if (annotation === undefined || profile === undefined) return [];
  const said = annotation.startsWith(LOCALHOST_PREFIX)
    ? { type: 'Localhost', localhostProfile: annotation.slice(LOCALHOST_PREFIX.length) }
    : profileOfAnnotation(annotation);
  if (!TYPES.includes(profile.type ?? '')) return [];
  if (said?.type !== profile.type) {
    return [forbiddenField(`${path}.type`, 'seccomp type in annotation and field must match')];
  }
  return said?.localhostProfile === profile.localhostProfile || profile.type !== 'Localhost'
    ? []
    : [forbiddenField(`${path}.localhostProfile`, 'seccomp profile in annotation and field must match')];
}

/** Where both say something, they must agree. */
export function validateSeccompAgreement(
  { annotations = {} }: ObjectMeta,
  spec: PodSpec,
  path: string,
): readonly FieldError[] {
  if (keysOf(annotations).length === 0) return [];
  const lists = ['initContainers', 'containers', 'ephemeralContainers'] as const;
  return [
    ...validateMatch(
      annotations[SECCOMP_POD_ANNOTATION],
      spec.securityContext?.seccompProfile,
      `${path}.securityContext.seccompProfile`,
    ),
    ...lists.flatMap((list) =>
      checkEach(spec[list], ({ name = '', securityContext }, index) =>
        validateMatch(
          annotations[`${SECCOMP_CONTAINER_ANNOTATION_PREFIX}${name}`],
          securityContext?.seccompProfile,
          `${path}.${list}[${index}].securityContext.seccompProfile`,
        ),
      ),
    ),
  ];
}
