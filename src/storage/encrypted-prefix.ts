const ENCRYPTED = Buffer.from('k8s:enc:');

/** Whether a stored value is encrypted, with whatever it is. */
export function isEncrypted(value: Buffer): boolean {
  return value[0] === ENCRYPTED[0] && beginsWith(value, ENCRYPTED);
}

export function beginsWith(value: Buffer, prefix: Buffer): boolean {
  return value.length >= prefix.length && value.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}

/** What those say who read values as they are. */
export const TRIED_TO_READ_ENCRYPTED = 'identity transformer tried to read encrypted data';
