import { forbiddenField, invalid, printValue, type FieldError } from '../errors/field-error';
import { deepEqual } from '../kinds/deep-equal';
import { isPlainMap } from '../kinds/field-values';
import { deepEqual as deepEqualInSteps } from '../steps/generated/kinds/deep-equal';
import { checkInSteps, isForLater } from './check-each';
import { invalidLiteral } from './go-literal';

const IMMUTABLE_DETAIL = 'field is immutable';

/** What `refuse` says where the two are not the same plain data. Large ones are compared in steps. */
export function checkSame(value: unknown, old: unknown, refuse: () => readonly FieldError[]): readonly FieldError[] {
  if (!isForLater(value) && !isForLater(old)) return deepEqual(value, old) ? [] : refuse();
  return checkInSteps(function* () {
    return (yield* deepEqualInSteps(value, old)) ? [] : refuse();
  });
}

/**
 * A field that keeps its value for good. `literal`: how the message shows it, where that is not its JSON form.
 * An absent value is shown as `"null"`.
 */
export function validateUnchanged(
  value: unknown,
  old: unknown,
  field: string,
  literal?: () => string,
): readonly FieldError[] {
  return checkSame(value, old, () => {
    if (literal !== undefined) return [invalidLiteral(field, literal(), IMMUTABLE_DETAIL)];
    return value === undefined || value === null
      ? [invalidLiteral(field, '"null"', IMMUTABLE_DETAIL)]
      : [invalid(field, value, IMMUTABLE_DETAIL)];
  });
}

/** As {@link validateUnchanged}, for fields whose change is forbidden rather than invalid. */
export function validateNotUpdated(value: unknown, old: unknown, field: string, detail: string): readonly FieldError[] {
  return checkSame(value, old, () => [forbiddenField(field, detail)]);
}

/** `Type{Name:"x", List:...}`: a structured value of which messages show more than the API can promise. */
export function structLiteral(type: string, value: unknown): string {
  if (!isPlainMap(value)) return `${type}{}`;
  const fields = Object.entries(value).map(
    ([name, field]) => `${name.charAt(0).toUpperCase()}${name.slice(1)}:${printValue(field)}`,
  );
  return `${type}{${fields.join(', ')}}`;
}
