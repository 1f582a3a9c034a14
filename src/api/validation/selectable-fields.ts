import { valueSchema, type JsonSchema } from '../custom/json-schema';
import { duplicate, invalid, required, tooMany, type FieldError } from '../errors/field-error';
import type { SelectableField } from '../schema/generated/apiextensions-v1';
import { checkAfter, checkEach } from './check-each';

const MAX_FIELDS = 8;
const TYPES: ReadonlySet<string | undefined> = new Set(['string', 'boolean', 'integer']);
const WRONG_TYPE =
  'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
const TOKEN = /[.[\]]|[^.[\]]+/g;

/** The fields of a version that field selectors may name. */
export function validateSelectableFields(
  fields: readonly SelectableField[],
  schema: JsonSchema | undefined,
  path: string,
): readonly FieldError[] {
  if (fields.length === 0) return [];
  if (schema === undefined) {
    const problem = 'selectableFields may only be set when version.schema.openAPIV3Schema is not included';
    return [invalid(path, '', problem)];
  }
  const known = new Set<string>();
  const errors = checkEach(fields, ({ jsonPath = '' }, index): readonly FieldError[] => {
    const field = `${path}[${index}].jsonPath`;
    if (jsonPath === '') return [required(field, '')];
    const found = fieldAt(schema, jsonPath);
    if ('problem' in found) return [invalid(field, jsonPath, `is an invalid path: ${found.problem}`)];
    const name = found.names.join('.');
    const isKnown = known.has(name);
    known.add(name);
    return [
      ...(found.names[0] === 'metadata' ? [invalid(field, jsonPath, 'must not point to fields in metadata')] : []),
      ...(TYPES.has(found.schema.type) ? [] : [invalid(field, jsonPath, WRONG_TYPE)]),
      ...(isKnown ? [duplicate(field, jsonPath)] : []),
    ];
  });
  return [...errors, ...checkAfter(() => (known.size > MAX_FIELDS ? [tooMany(path, known.size, MAX_FIELDS)] : []))];
}

type Found = { readonly names: readonly string[]; readonly schema: JsonSchema } | { readonly problem: string };

/** What a path of names leads to. */
function fieldAt(schema: JsonSchema, jsonPath: string): Found {
  const tokens = jsonPath.match(TOKEN) ?? [];
  const names: string[] = [];
  let part = schema;
  for (let index = 0; index < tokens.length; index += 2) {
    const [separator = '', name] = tokens.slice(index, index + 2);
    if (separator === '[') return { problem: 'array notation is not allowed' };
    if (separator !== '.') return { problem: `expected [ or . but got: ${separator}` };
    if (name === undefined) return { problem: 'unexpected end of JSON path' };
    const { properties } = part;
    const next = properties === undefined ? valueSchema(part) : Object.hasOwn(properties, name) && properties[name];
    if (next === undefined || next === false) return { problem: 'does not refer to a valid field' };
    names.push(name);
    part = next;
  }
  return { names, schema: part };
}
