import { invalid, notSupported, type FieldError } from '../errors/field-error';
import { parseQuantity } from '../quantity/quantity';
import { dns1123SubdomainProblems } from './names';
import { NON_NEGATIVE_PROBLEM } from './numbers';

/** What persistent volumes and the claims to them have in common. */

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce'];
/** Of later releases, which messages of this one do not name. */
const SINGLE_POD_MODE = 'ReadWriteOncePod';
const VOLUME_MODES = ['Block', 'Filesystem'];

export function validateAccessModes(modes: readonly string[], field: string): readonly FieldError[] {
  return modes
    .filter((mode) => mode !== SINGLE_POD_MODE && !ACCESS_MODES.includes(mode))
    .map((mode) => notSupported(field, mode, ACCESS_MODES));
}

export function validateVolumeMode(mode: string | undefined, field: string): readonly FieldError[] {
  return mode === undefined || VOLUME_MODES.includes(mode) ? [] : [notSupported(field, mode, VOLUME_MODES)];
}

export function validateClassName(name: string | undefined, field: string): readonly FieldError[] {
  if (name === undefined || name === '') return [];
  return dns1123SubdomainProblems(name).map((problem) => invalid(field, name, problem));
}

/** An amount of storage: a negative one has two problems. */
export function validatePositiveQuantity(text: string, field: string): readonly FieldError[] {
  const { nanos } = parseQuantity(text);
  return [
    ...(nanos < 0n ? [invalid(field, text, NON_NEGATIVE_PROBLEM)] : []),
    ...(nanos <= 0n ? [invalid(field, text, 'must be greater than zero')] : []),
  ];
}

/** The amounts that a status tells of. */
export function validateStatusAmounts(
  amounts: Readonly<Record<string, string>> | undefined,
  path: string,
): readonly FieldError[] {
  return Object.entries(amounts ?? {}).flatMap(([name, text]) =>
    parseQuantity(text).nanos < 0n
      ? [invalid(`${path}[${name}]`, text, `must be a valid resource quantity: ${NON_NEGATIVE_PROBLEM}`)]
      : [],
  );
}
