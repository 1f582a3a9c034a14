import { stringifyExact } from '../codec/exact-json';
import { compileEmbeddedCheck } from '../custom/structural-rules';
import { compileValidation } from '../custom/schema-validation';
import type { JsonSchema } from '../custom/json-schema';
import type { FieldError } from '../errors/field-error';
import type { JsonValue } from '../object';
import { isPlainMap } from '../kinds/field-values';
import type { JSONSchemaProps as Schema } from '../schema/generated/apiextensions-v1';
import { checkNow } from './check-each';
import { invalidLiteral } from './go-literal';

/** True when pruning would take something out of the value. */
function hasUnknownFields(schema: Schema, value: unknown): boolean {
  if (Array.isArray(value)) {
    const { items } = schema;
    return isPlainMap(items) && value.some((item) => hasUnknownFields(items, item));
  }
  if (!isPlainMap(value)) return false;
  const { properties = {}, additionalProperties: values } = schema;
  return Object.entries(value).some(([name, field]) => {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const property = known ?? (typeof values === 'object' ? values : undefined);
    if (property !== undefined) return hasUnknownFields(property, field);
    return values !== true && schema['x-kubernetes-preserve-unknown-fields'] !== true;
  });
}

/** JSON data as Go prints it with its types. */
function valueLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[]interface {}{${value.map(valueLiteral).join(', ')}}`;
  if (!isPlainMap(value)) return stringifyExact(value ?? null);
  const fields = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  const texts = fields.map(([name, field]) => `${JSON.stringify(name)}:${valueLiteral(field)}`);
  return `map[string]interface {}{${texts.join(', ')}}`;
}

/** Of a whole object, which has to say what it is; in the metadata of one, which schemas do not describe; or elsewhere. */
export type DefaultPlace = 'root' | 'metadata' | 'field';

/** A default is a value that the schema itself allows, and of which nothing would be dropped. */
export function validateDefault(schema: Schema, path: string, place: DefaultPlace): readonly FieldError[] {
  const value = schema.default;
  if (value === undefined) return [];
  const field = `${path}.default`;
  if (place !== 'metadata' && hasUnknownFields(schema, value)) {
    return [invalidLiteral(field, valueLiteral(value), 'must not have unknown fields')];
  }
  return checkNow(() => problemsOfDefault(schema, value, place)).map((error) => ({
    ...error,
    field: error.field === '' ? field : `${field}.${error.field.replace(/^\./, '')}`,
  }));
}

function problemsOfDefault(schema: Schema, value: JsonValue, place: DefaultPlace): readonly FieldError[] {
  const errors: FieldError[] = [];
  const { default: _default, ...rules } = schema;
  if (place === 'root') {
    const embedded = { ...rules, 'x-kubernetes-embedded-resource': true } as JsonSchema;
    compileEmbeddedCheck(embedded)?.(value, '', errors);
  }
  if (errors.length === 0) compileValidation(rules as JsonSchema)(value, '', errors);
  return errors;
}
