import { stringifyExact } from '../codec/exact-json';
import { quoteGo } from './go-quote';
import { shownPart } from './shown-value';

/**
 * One problem of one field, as the API reports it in `details.causes` and in the message of a 422 answer.
 * The constructors mirror the reasons of the API ("Validation" in the API conventions); the texts are the wire's.
 */
export type FieldErrorReason =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'InternalError';

export interface FieldError {
  readonly reason: FieldErrorReason;
  /** `spec.containers[0].name`; empty for the object itself. */
  readonly field: string;
  /** The message without the field, as it stands in `causes[].message`. */
  readonly message: string;
}

/** How Go prints a value with %#v inside a field error: strings quoted, numbers and booleans plain, others as JSON. Of a long one the beginning. */
export function printValue(value: unknown): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'string') return quoteGo(value);
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  return stringifyExact(shownPart(value));
}

function withDetail(text: string, detail: string): string {
  return detail === '' ? text : `${text}: ${detail}`;
}

export function required(field: string, detail: string): FieldError {
  return { reason: 'FieldValueRequired', field, message: withDetail('Required value', detail) };
}

export function invalid(field: string, value: unknown, detail: string): FieldError {
  return { reason: 'FieldValueInvalid', field, message: withDetail(`Invalid value: ${printValue(value)}`, detail) };
}

export function duplicate(field: string, value: unknown): FieldError {
  return { reason: 'FieldValueDuplicate', field, message: `Duplicate value: ${printValue(value)}` };
}

export function notFoundField(field: string, value: unknown): FieldError {
  return { reason: 'FieldValueNotFound', field, message: `Not found: ${printValue(value)}` };
}

export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const detail = supported.length === 0 ? '' : `supported values: ${supported.map(quoteGo).join(', ')}`;
  return {
    reason: 'FieldValueNotSupported',
    field,
    message: withDetail(`Unsupported value: ${printValue(value)}`, detail),
  };
}

export function forbiddenField(field: string, detail: string): FieldError {
  return { reason: 'FieldValueForbidden', field, message: withDetail('Forbidden', detail) };
}

export function tooLong(field: string, maxBytes: number): FieldError {
  return { reason: 'FieldValueTooLong', field, message: `Too long: must have at most ${maxBytes} bytes` };
}

export function tooMany(field: string, actual: number, maxItems: number): FieldError {
  return {
    reason: 'FieldValueTooMany',
    field,
    message: `Too many: ${actual}: must have at most ${maxItems} items`,
  };
}
