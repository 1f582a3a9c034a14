import { invalid, notSupported, required, type FieldError } from '../../errors/field-error';
import { qualifiedNameProblems } from '../label-syntax';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../names';

/** Rules of single values that many fields of a pod share. Each gives the problems of one value at one path. */

/** One problem for each text that a syntax check has returned. */
export function invalidBecause(field: string, value: unknown, problems: readonly string[]): readonly FieldError[] {
  return problems.map((problem) => invalid(field, value, problem));
}

export function validateDnsLabel(value: string, field: string): readonly FieldError[] {
  return invalidBecause(field, value, dns1123LabelProblems(value));
}

export function validateDnsSubdomain(value: string, field: string): readonly FieldError[] {
  return invalidBecause(field, value, dns1123SubdomainProblems(value));
}

/** Keys of labels, types of conditions. */
export function validateQualifiedName(value: string, field: string): readonly FieldError[] {
  return invalidBecause(field, value, qualifiedNameProblems(value));
}

export function validatePresent(value: string | undefined, field: string, detail = ''): readonly FieldError[] {
  return value === undefined || value === '' ? [required(field, detail)] : [];
}

/** One of a closed set; the message lists the set in the order given. */
export function validateOneOf(value: string, supported: readonly string[], field: string): readonly FieldError[] {
  return supported.includes(value) ? [] : [notSupported(field, value, supported)];
}

/** One of a closed set that must not be empty. */
export function validateRequiredOneOf(
  value: string | undefined,
  supported: readonly string[],
  field: string,
): readonly FieldError[] {
  return value === undefined || value === '' ? [required(field, '')] : validateOneOf(value, supported, field);
}

/** A number between two bounds, both of which it may be. */
export function validateRange(
  value: number | bigint | undefined,
  min: number,
  max: number,
  field: string,
): readonly FieldError[] {
  if (value === undefined || (value >= min && value <= max)) return [];
  return [invalid(field, value, `must be between ${min} and ${max}, inclusive`)];
}

const MAX_FILE_MODE = 0o777;

/** Permission bits of a file. */
export function validateFileMode(mode: number | undefined, field: string): readonly FieldError[] {
  if (mode === undefined || (mode >= 0 && mode <= MAX_FILE_MODE)) return [];
  return [invalid(field, mode, 'must be a number between 0 and 0777 (octal), both inclusive')];
}
