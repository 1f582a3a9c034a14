import { spellQuantity } from '../../quantity/quantity';

const FORMATS = { decimalSI: 'DecimalSI', binarySI: 'BinarySI', decimalExponent: 'DecimalExponent' } as const;

/** A quantity that nobody gave, where the version has one in any case. */
export const ABSENT_QUANTITY =
  'resource.Quantity{i:resource.int64Amount{value:0, scale:0}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"", Format:""}';

/** What "0.5" and "1.5" have become by the time that they are validated. */
const HALF = /^(-?[0-9]*)500m$/;

/**
 * A quantity as Go prints its struct in messages:
 * `resource.Quantity{i:resource.int64Amount{value:15, scale:-1}, d:..., s:"", Format:"DecimalSI"}`.
 * Go remembers what was written where that needs no change. Here the canonical text is all that is left, and is taken for
 * what was written, but for halves, which people write as `0.5`.
 */
export function quantityLiteral(text: string): string {
  const half = HALF.exec(text);
  const { value, scale, format, kept } =
    half === null ? spellQuantity(text) : { value: `${half[1]}5`, scale: -1, format: 'decimalSI' as const, kept: '' };
  return (
    `resource.Quantity{i:resource.int64Amount{value:${value}, scale:${scale}}, ` +
    `d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:${JSON.stringify(kept)}, Format:"${FORMATS[format]}"}`
  );
}
