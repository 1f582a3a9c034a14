import { invalid, required, type FieldError } from '../../errors/field-error';
import type { ISCSIVolumeSource } from '../../schema/generated/core-v1';
import { validatePresent, validateRange } from './field-rules';

/** Names of targets and initiators: RFC 3720, section 3.2.6. */
const NAME_FORMS: Readonly<Record<string, RegExp>> = {
  iqn: /iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)$/,
  eui: /^eui.[A-Za-z0-9]{16}$/,
  naa: /^naa.[A-Za-z0-9]{32}$/,
};
const MAX_LUN = 255;

function validateName(name: string, field: string): readonly FieldError[] {
  const form = NAME_FORMS[name.slice(0, 3)];
  if (form === undefined) return [invalid(field, name, 'must be valid format starting with iqn, eui, or naa')];
  return form.test(name) ? [] : [invalid(field, name, 'must be valid format')];
}

/** Of persistent volumes too: they differ in the form of the secret's reference only. */
export function validateIscsi(
  source: Omit<ISCSIVolumeSource, 'secretRef'> & { readonly secretRef?: object },
  path: string,
): readonly FieldError[] {
  const { targetPortal, iqn = '', lun = 0, chapAuthDiscovery, chapAuthSession, secretRef, initiatorName } = source;
  return [
    ...validatePresent(targetPortal, `${path}.targetPortal`),
    ...(iqn === '' ? [required(`${path}.iqn`, '')] : validateName(iqn, `${path}.iqn`)),
    ...validateRange(lun, 0, MAX_LUN, `${path}.lun`),
    ...((chapAuthDiscovery || chapAuthSession) && secretRef === undefined ? [required(`${path}.secretRef`, '')] : []),
    ...(initiatorName === undefined ? [] : validateName(initiatorName, `${path}.initiatorname`)),
  ];
}
