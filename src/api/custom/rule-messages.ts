import { duplicate, forbiddenField, invalid, required, type FieldError } from '../errors/field-error';
import type { ValidationRule } from './json-schema';

/** What a rule that fails is told as: its own message, or the rule. */
export function ruleText({ rule = '', message = '' }: ValidationRule): string {
  return message === '' ? `failed rule: ${rule.trim()}` : message.trim();
}

function nameOf({ rule = '', message = '' }: ValidationRule): string {
  return (message === '' ? rule : message).trim();
}

export const hintOf = {
  budget: 'validation failed due to running out of cost budget, no further validation rules will be run',
  messageBudget:
    'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run',
  messageCost({ messageExpression = '' }: ValidationRule): string {
    const source = JSON.stringify(messageExpression);
    return `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${source}`;
  },
  failure(outcome: { readonly error: string; readonly costExceeded: boolean }, rule: ValidationRule): string {
    const { error, costExceeded } = outcome;
    if (costExceeded) {
      return `'${error}': no further validation rules will be run due to call cost exceeds limit for rule: ${nameOf(rule)}`;
    }
    return error.startsWith('no such overload')
      ? `'${error}': call arguments did not match a supported operator, function or macro signature for rule: ${nameOf(rule)}`
      : `${error} evaluating rule: ${nameOf(rule)}`;
  },
} as const;

/** `type`: that of the value, which stands for it. */
export function fieldErrorOf(reason: string | undefined, path: string, type: string, message: string): FieldError {
  const field = path === '' ? '<nil>' : path;
  switch (reason) {
    case 'FieldValueForbidden':
      return forbiddenField(field, message);
    case 'FieldValueRequired':
      return required(field, message);
    case 'FieldValueDuplicate':
      return duplicate(field, type);
    default:
      return invalid(field, type, message);
  }
}
