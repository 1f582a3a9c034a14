const CLOSE_BRACE = 0x7d;
const TAB = 0x09;

/** Ends the values of the current form: white space to every reader of JSON, and of no use to any other writer. */
export const CURRENT_FORM = '\t';

/**
 * A value as this server writes it. Its end says that the object has every default of this release, so that it is taken as it
 * is when it is read. A release that adds defaults ends its values otherwise: white space is enough for many.
 *
 * @param text an object's JSON without white space
 */
export function inCurrentForm(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const value = Buffer.allocUnsafe(length + 1);
  value.write(text, 'utf8');
  value[length] = TAB;
  return value;
}

/** Values of other writers, and of releases with other defaults, are not. */
export function isInCurrentForm(value: Buffer): boolean {
  return value[value.length - 1] === TAB && value[value.length - 2] === CLOSE_BRACE;
}
