import { invalid, type FieldError } from '../../errors/field-error';

/** Paths of files within volumes: they must not lead out of them. */

const PARENT = '..';
const PARENT_STEP = /(?:^|\/)\.\.(?:\/|$)/;

export function hasParentStep(path: string): boolean {
  return PARENT_STEP.test(path);
}

export function validateNoParentStep(path: string, field: string): readonly FieldError[] {
  return hasParentStep(path) ? [invalid(field, path, "must not contain '..'")] : [];
}

/** Relative, and downwards only. */
export function validateDescendingPath(path: string, field: string): readonly FieldError[] {
  return [
    ...(path.startsWith('/') ? [invalid(field, path, 'must be a relative path')] : []),
    ...validateNoParentStep(path, field),
  ];
}

/** In addition, names that begin with two dots are the kubelet's own. */
export function validateUnreservedPath(path: string, field: string): readonly FieldError[] {
  return [
    ...validateDescendingPath(path, field),
    ...(path.startsWith(PARENT) && !path.startsWith('../') ? [invalid(field, path, "must not start with '..'")] : []),
  ];
}

/** What names of environment variables may not be, since the values may end up in files of these names. */
export function dotNameProblems(name: string): readonly string[] {
  if (name === '.' || name === PARENT) return [`must not be '${name}'`];
  return name.startsWith(PARENT) ? ["must not start with '..'"] : [];
}
