import { invalid, type FieldError } from '../errors/field-error';
import { intOrStringLiteral, invalidLiteral } from './go-literal';
import { patternProblem } from './syntax-error';

export const NON_NEGATIVE_PROBLEM = 'must be greater than or equal to 0';

/** An absent number is zero. */
export function validateNonNegative(value: number | bigint | undefined, field: string): readonly FieldError[] {
  return value !== undefined && value < 0 ? [invalid(field, value, NON_NEGATIVE_PROBLEM)] : [];
}

/** A counter that only grows must neither shrink nor vanish. */
export function validateNotDecremented(
  value: number | bigint | undefined,
  old: number | bigint | undefined,
  field: string,
): readonly FieldError[] {
  const isDecremented = old !== undefined && (value === undefined || value < old);
  return isDecremented ? [invalid(field, value ?? 0, 'cannot be decremented')] : [];
}

const PERCENT = '[0-9]+%';
const percentPattern = new RegExp(`^${PERCENT}$`);
const PERCENT_PROBLEM = patternProblem(
  "a valid percent string must be a numeric string followed by an ending '%'",
  PERCENT,
  '1%',
  '93%',
);

export type IntOrString = number | string;

/** The number before the percent sign; undefined for what is no percentage. */
export function percentOf(value: IntOrString | undefined): number | undefined {
  return typeof value === 'string' && percentPattern.test(value) ? Number.parseInt(value, 10) : undefined;
}

/** The number or the percentage; a text that is neither counts as zero. */
export function intOrPercentValue(value: IntOrString | undefined): number {
  if (typeof value === 'number') return value;
  return percentOf(value) ?? (value !== undefined && /^[+-]?[0-9]+$/.test(value) ? Number.parseInt(value, 10) : 0);
}

export function validateIntOrPercent(value: IntOrString | undefined, field: string): readonly FieldError[] {
  if (typeof value !== 'string') return validateNonNegative(value, field);
  return percentOf(value) === undefined ? [invalidLiteral(field, intOrStringLiteral(value), PERCENT_PROBLEM)] : [];
}

/** A percentage of what there is cannot be more than all of it. */
export function validateAtMostAll(value: IntOrString | undefined, field: string): readonly FieldError[] {
  return (percentOf(value) ?? 0) > 100
    ? [invalidLiteral(field, intOrStringLiteral(value), 'must not be greater than 100%')]
    : [];
}
