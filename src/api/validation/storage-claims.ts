import { invalid, notSupported, type FieldError } from '../errors/field-error';
import { parseQuantity, quantityValue } from '../quantity/quantity';
import { dns1123SubdomainProblems } from './names';
import { checkEach } from './check-each';

/** What persistent volumes and the claims to them have in common. */

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce'];
/** Of later releases, which messages of this one do not name. */
const SINGLE_POD_MODE = 'ReadWriteOncePod';
const VOLUME_MODES = ['Block', 'Filesystem'];

export function validateAccessModes(modes: readonly string[], field: string): readonly FieldError[] {
  return checkEach(modes, (mode) =>
    mode === SINGLE_POD_MODE || ACCESS_MODES.includes(mode) ? [] : [notSupported(field, mode, ACCESS_MODES)],
  );
}

export function validateVolumeMode(mode: string | undefined, field: string): readonly FieldError[] {
  return mode === undefined || VOLUME_MODES.includes(mode) ? [] : [notSupported(field, mode, VOLUME_MODES)];
}

export function validateClassName(name: string | undefined, field: string): readonly FieldError[] {
  if (name === undefined || name === '') return [];
  return dns1123SubdomainProblems(name).map((problem) => invalid(field, name, problem));
}

/** Empty list: the amount is not negative; the message shows the number and not its text. */
export function validateBasicAmount(text: string, field: string): readonly FieldError[] {
  const quantity = parseQuantity(text);
  return quantity.nanos < 0n ? [invalid(field, quantityValue(quantity), 'must be a valid resource quantity')] : [];
}

export function validatePositiveAmount(text: string, field: string): readonly FieldError[] {
  return parseQuantity(text).nanos > 0n ? [] : [invalid(field, text, 'must be greater than zero')];
}
