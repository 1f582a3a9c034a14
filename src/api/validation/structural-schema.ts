import { forbiddenField, invalid, required, type FieldError } from '../errors/field-error';
import { checkEach, checkThen } from './check-each';
import { validateDefault, type DefaultPlace } from './custom-default';
import type { JSONSchemaProps as Schema } from '../schema/generated/apiextensions-v1';

/**
 * A schema is structural when the type of every field can be told from it without looking at a value ("Specifying a
 * structural schema" in the documentation of custom resources).
 */
type Level = 'root' | 'field' | 'items';

const MISSING_TYPE: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  field: 'must not be empty for specified object fields',
  items: 'must not be empty for specified array items',
};
/** Fields of every object, whatever its schema says of them. */
const METADATA_TYPES = [
  ['apiVersion', 'string'],
  ['kind', 'string'],
  ['metadata', 'object'],
] as const;
const METADATA_FIELDS: readonly string[] = ['name', 'generateName'];
function entries(schema: Schema): readonly (readonly [name: string, schema: Schema])[] {
  return Object.entries(schema.properties ?? {}).sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
}

function itemsOf({ items }: Schema): Schema | undefined {
  return items === undefined || Array.isArray(items) ? undefined : (items as Schema);
}

function validateType(schema: Schema, level: Level, path: string): readonly FieldError[] {
  const { type = '' } = schema;
  const field = `${path}.type`;
  if (schema['x-kubernetes-embedded-resource'] === true && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    return [type === '' ? required(field, detail) : invalid(field, type, detail), ...rootType(schema, level, field)];
  }
  const isOpen =
    schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true;
  return [...(type === '' && !isOpen ? [required(field, MISSING_TYPE[level])] : []), ...rootType(schema, level, field)];
}

function rootType({ type = '' }: Schema, level: Level, field: string): readonly FieldError[] {
  return level === 'root' && type !== '' && type !== 'object'
    ? [invalid(field, type, 'must be object at the root')]
    : [];
}

/** A whole object within another: it has metadata of its own. */
function validateEmbedded(schema: Schema, path: string): readonly FieldError[] {
  const hasNoFields = entries(schema).length === 0 && schema['x-kubernetes-preserve-unknown-fields'] !== true;
  const detail =
    'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
  return [
    ...(schema.additionalProperties === undefined
      ? []
      : [forbiddenField(`${path}.additionalProperties`, 'must not be used if x-kubernetes-embedded-resource is set')]),
    ...(hasNoFields ? [required(`${path}.properties`, detail)] : []),
  ];
}

function validateExtensions(schema: Schema, path: string): readonly FieldError[] {
  if (schema['x-kubernetes-int-or-string'] !== true) return [];
  return (['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const).flatMap((name) =>
    schema[name] === true
      ? [invalid(`${path}.${name}`, true, 'must be false if x-kubernetes-int-or-string is true')]
      : [],
  );
}

function validateMetadataTypes(schema: Schema, path: string): readonly FieldError[] {
  return METADATA_TYPES.flatMap(([name, type]) => {
    const property = schema.properties?.[name];
    return property === undefined || property.type === type
      ? []
      : [invalid(`${path}.properties[${name}].type`, property.type ?? '', `must be ${type}`)];
  });
}

/** Of the metadata of the object itself, which is the API's, a schema may narrow the names only. */
function validateRootMetadata(schema: Schema, path: string): readonly FieldError[] {
  const metadata = schema.properties?.['metadata'];
  if (metadata === undefined) return [];
  const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
  const { type: _type, default: _default, properties: _properties, ...others } = metadata;
  const saysMore =
    Object.values(others).some((value) => value !== undefined && value !== false && value !== '') ||
    entries(metadata).some(([name]) => !METADATA_FIELDS.includes(name));
  return saysMore ? [forbiddenField(`${path}.properties[metadata]`, detail)] : [];
}

function validateLevel(schema: Schema, level: Level, path: string): readonly FieldError[] {
  const items = itemsOf(schema);
  const values = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  return [
    ...(schema.type === 'array' && items === undefined ? [required(`${path}.items`, 'must be specified')] : []),
    ...(items === undefined ? [] : validateLevel(items, 'items', `${path}.items`)),
    ...checkEach(entries(schema), ([name, property]) =>
      validateLevel(property, 'field', `${path}.properties[${name}]`),
    ),
    ...(level === 'root' && schema.additionalProperties !== undefined
      ? [forbiddenField(`${path}.additionalProperties`, 'must not be used at the root')]
      : []),
    ...(values === undefined ? [] : validateLevel(values, 'field', `${path}.additionalProperties`)),
    ...validateExtensions(schema, path),
    ...validateType(schema, level, path),
    ...(isEmbedded ? validateEmbedded(schema, path) : []),
    ...(isEmbedded || level === 'root' ? validateMetadataTypes(schema, path) : []),
    ...(level === 'root' ? validateRootMetadata(schema, path) : []),
    ...validateConditions(schema, path),
  ];
}

/** `anyOf: [{type: integer}, {type: string}]` is how an integer or a string is told to clients that know no better. */
function isIntOrStringAlternative(schema: Schema, alternatives: readonly Schema[]): boolean {
  return (
    schema['x-kubernetes-int-or-string'] === true &&
    alternatives.length === 2 &&
    alternatives[0]?.type === 'integer' &&
    alternatives[1]?.type === 'string'
  );
}

function validateConditions(schema: Schema, path: string): readonly FieldError[] {
  const listed = (name: 'allOf' | 'anyOf' | 'oneOf'): readonly FieldError[] => {
    const conditions = schema[name] ?? [];
    if (name === 'anyOf' && isIntOrStringAlternative(schema, conditions)) return [];
    return checkEach(conditions, (condition, index) => {
      const inner = condition.anyOf ?? [];
      const isAlternative = name === 'allOf' && index === 0 && isIntOrStringAlternative(schema, inner);
      return isAlternative ? [] : validateCondition(condition, `${path}.${name}[${index}]`);
    });
  };
  return [
    ...listed('allOf'),
    ...listed('anyOf'),
    ...listed('oneOf'),
    ...(schema.not ? validateCondition(schema.not, `${path}.not`) : []),
  ];
}

/** What only the structure may say, not the conditions on values beside it. */
const STRUCTURAL_KEYWORDS = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
] as const;

/** A condition on values says nothing of their structure. */
function validateCondition(condition: Schema, path: string): readonly FieldError[] {
  const items = itemsOf(condition);
  const says = (name: (typeof STRUCTURAL_KEYWORDS)[number][0]): boolean =>
    name === 'default' || name === 'additionalProperties' ? condition[name] !== undefined : Boolean(condition[name]);
  return [
    ...validateConditions(condition, path),
    ...(items === undefined ? [] : validateCondition(items, `${path}.items`)),
    ...checkEach(entries(condition), ([name, property]) => validateCondition(property, `${path}.properties[${name}]`)),
    ...STRUCTURAL_KEYWORDS.filter(([name]) => says(name)).map(([name, detail]) =>
      forbiddenField(`${path}.${name}`, detail),
    ),
    ...(condition.properties?.['metadata'] === undefined
      ? []
      : [forbiddenField(`${path}.properties[metadata]`, 'must not be specified in a nested context')]),
  ];
}

/** Every field that a condition of the root names is one that the structure names. */
function validateCompleteness(
  condition: Schema,
  schema: Schema,
  schemaPath: string,
  path: string,
): readonly FieldError[] {
  const listed = (['allOf', 'anyOf', 'oneOf'] as const).flatMap((name) =>
    (condition[name] ?? []).map((one, index) => [one, `${path}.${name}[${index}]`] as const),
  );
  const conditions = condition.not ? [[condition.not, `${path}.not`] as const, ...listed] : listed;
  return checkEach(conditions, ([one, onePath]) => [
    ...validateCompleteness(one, schema, schemaPath, onePath),
    ...validateNamedFields(one, schema, schemaPath, onePath),
  ]);
}

function validateNamedFields(condition: Schema, schema: Schema, schemaPath: string, path: string) {
  const inner = (
    part: Schema,
    known: Schema | undefined,
    knownPath: string,
    partPath: string,
  ): readonly FieldError[] =>
    known === undefined
      ? [required(knownPath, `because it is defined in ${partPath}`)]
      : [
          ...validateCompleteness(part, known, knownPath, partPath),
          ...validateNamedFields(part, known, knownPath, partPath),
        ];
  const items = itemsOf(condition);
  return [
    ...(items === undefined ? [] : inner(items, itemsOf(schema), `${schemaPath}.items`, `${path}.items`)),
    ...checkEach(entries(condition), ([name, property]) => {
      const part = `.properties[${name}]`;
      return inner(property, schema.properties?.[name], `${schemaPath}${part}`, `${path}${part}`);
    }),
  ];
}

function validateDefaults(schema: Schema, path: string, place: DefaultPlace): readonly FieldError[] {
  const items = itemsOf(schema);
  const isObject = place === 'root' || schema['x-kubernetes-embedded-resource'] === true;
  const inside = isObject ? 'field' : place;
  return [
    ...validateDefault(schema, path, isObject ? 'root' : place),
    ...(items === undefined ? [] : validateDefaults(items, `${path}.items`, inside)),
    ...checkEach(entries(schema), ([name, property]) => {
      const isMetadata = isObject && METADATA_TYPES.some(([one]) => one === name);
      return validateDefaults(property, `${path}.properties[${name}]`, isMetadata ? 'metadata' : inside);
    }),
  ];
}

/** In the order of their texts. Defaults are looked at when the structure is clear. */
export function validateStructure(schema: Schema, path: string): readonly FieldError[] {
  return checkThen(
    () => [...validateLevel(schema, 'root', path), ...validateCompleteness(schema, schema, path, path)],
    (errors) => (errors.length === 0 ? validateDefaults(schema, path, 'root') : inOrderOfTexts(errors)),
  );
}

function inOrderOfTexts(errors: readonly FieldError[]): readonly FieldError[] {
  const texts = errors.map((error) => [`${error.field}: ${error.message}`, error] as const);
  return texts.sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0)).map(([, error]) => error);
}
