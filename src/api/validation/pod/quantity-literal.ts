import { canonicalQuantity, parseQuantity } from '../../quantity/quantity';

const FORMATS = { decimalSI: 'DecimalSI', binarySI: 'BinarySI', decimalExponent: 'DecimalExponent' } as const;
const NANO_DIGITS = 9;

/**
 * A quantity as Go prints its struct in messages:
 * `resource.Quantity{i:resource.int64Amount{value:15, scale:-1}, d:..., s:"", Format:"DecimalSI"}`.
 * The text is remembered only when it was canonical already.
 */
export function quantityLiteral(text: string): string {
  const { nanos, format } = parseQuantity(text);
  let value = nanos;
  let scale = -NANO_DIGITS;
  while (value !== 0n && value % 10n === 0n && scale < 0) {
    value /= 10n;
    scale += 1;
  }
  if (value === 0n) scale = 0;
  const remembered = scale >= 0 && canonicalQuantity(text) === text ? text : '';
  return (
    `resource.Quantity{i:resource.int64Amount{value:${value}, scale:${scale}}, ` +
    `d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:${JSON.stringify(remembered)}, Format:"${FORMATS[format]}"}`
  );
}
