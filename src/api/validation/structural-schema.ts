import { forbiddenField, invalid, notSupported, required, type FieldError } from '../errors/field-error';
import { validateDefault } from './custom-default';
import type { JSONSchemaProps as Schema } from '../schema/generated/apiextensions-v1';

/**
 * A schema is structural when the type of every field can be told from it without looking at a value ("Specifying a
 * structural schema" in the documentation of custom resources).
 */
type Level = 'root' | 'field' | 'items';

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
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
/** What only the structure may say, not the conditions on values beside it. */
const STRUCTURAL_KEYWORDS = [
  'type',
  'title',
  'description',
  'default',
  'nullable',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-preserve-unknown-fields',
] as const;

function entries(schema: Schema): readonly (readonly [name: string, schema: Schema])[] {
  return Object.entries(schema.properties ?? {}).sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
}

function itemsOf({ items }: Schema): Schema | undefined {
  return items === undefined || Array.isArray(items) ? undefined : (items as Schema);
}

function validateType(schema: Schema, level: Level, path: string): readonly FieldError[] {
  const { type = '' } = schema;
  const field = `${path}.type`;
  if (schema['x-kubernetes-int-or-string'] === true) {
    return type === '' ? [] : [invalid(field, type, 'must be empty if x-kubernetes-int-or-string is true')];
  }
  if (type === '') {
    return schema['x-kubernetes-preserve-unknown-fields'] === true && level !== 'root'
      ? []
      : [required(field, MISSING_TYPE[level])];
  }
  if (level === 'root' && type !== 'object') return [invalid(field, type, 'must be object at the root')];
  return TYPES.includes(type) ? [] : [notSupported(field, type, TYPES)];
}

/** A whole object within another: it has metadata of its own. */
function validateEmbedded(schema: Schema, path: string): readonly FieldError[] {
  const hasNoFields = entries(schema).length === 0 && schema['x-kubernetes-preserve-unknown-fields'] !== true;
  const detail =
    'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
  return hasNoFields ? [required(`${path}.properties`, detail)] : [];
}

function validateMetadataTypes(schema: Schema, path: string): readonly FieldError[] {
  return METADATA_TYPES.flatMap(([name, type]) => {
    const property = schema.properties?.[name];
    return property === undefined || property.type === type
      ? []
      : [invalid(`${path}.properties[${name}].type`, property.type ?? '', `must be ${type}`)];
  });
}

/** The metadata of the object itself is the API's; a schema may narrow its name only. */
function validateRootMetadata(schema: Schema, path: string): readonly FieldError[] {
  const metadata = schema.properties?.['metadata'];
  if (metadata === undefined) return [];
  const field = `${path}.properties[metadata]`;
  const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
  const others = entries(metadata).some(([name]) => !METADATA_FIELDS.includes(name));
  return [
    ...(others || metadata.additionalProperties !== undefined ? [forbiddenField(field, detail)] : []),
    ...(metadata.default === undefined
      ? []
      : [forbiddenField(`${field}.default`, 'must not be set in top-level metadata')]),
  ];
}

function validateLevel(schema: Schema, level: Level, path: string): readonly FieldError[] {
  const items = itemsOf(schema);
  const values = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  return [
    ...(items === undefined ? [] : validateLevel(items, 'items', `${path}.items`)),
    ...entries(schema).flatMap(([name, property]) => validateLevel(property, 'field', `${path}.properties[${name}]`)),
    ...(values === undefined ? [] : validateLevel(values, 'field', `${path}.additionalProperties`)),
    ...validateType(schema, level, path),
    ...validateDefault(schema, path),
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
    return conditions.flatMap((condition, index) => {
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

/** A condition on values says nothing of their structure. */
function validateCondition(condition: Schema, path: string): readonly FieldError[] {
  const items = itemsOf(condition);
  return [
    ...STRUCTURAL_KEYWORDS.filter((name) => Boolean(condition[name])).map((name) =>
      forbiddenField(`${path}.${name}`, 'must be empty to be structural'),
    ),
    ...(condition.additionalProperties === undefined
      ? []
      : [forbiddenField(`${path}.additionalProperties`, 'must be undefined to be structural')]),
    ...validateConditions(condition, path),
    ...(items === undefined ? [] : validateCondition(items, `${path}.items`)),
    ...entries(condition).flatMap(([name, property]) => validateCondition(property, `${path}.properties[${name}]`)),
  ];
}

export function validateStructure(schema: Schema, path: string): readonly FieldError[] {
  return validateLevel(schema, 'root', path);
}
