import { printGoSyntax } from '../apply/go-text';
import { required, invalid, type FieldError } from '../errors/field-error';
import type { JsonObject, JsonValue, ObjectMeta } from '../object';
import { keysOf } from '../parts';
import { isForLater, leftForLater } from '../validation/check-each';
import { dns1035LabelProblems, pathSegmentName } from '../validation/names';
import { validateObjectMeta } from '../validation/object-meta';
import { isJsonList, isJsonObject, schemasWith, valueSchema, type JsonSchema } from './json-schema';

/**
 * What a structural schema demands beyond JSON schema: embedded objects are objects of the API, and lists that are merged by
 * key or as sets name nothing twice.
 */
export type StructuralCheck = (value: JsonValue, path: string, errors: FieldError[]) => void;

/** Embedded objects have apiVersion, kind and valid metadata. Undefined when the schema embeds none. */
export function compileEmbeddedCheck(schema: JsonSchema): StructuralCheck | undefined {
  return compile(schema, (part) => (part['x-kubernetes-embedded-resource'] === true ? checkEmbedded : undefined));
}

/** Undefined when the schema has neither sets nor keyed lists. */
export function compileListCheck(schema: JsonSchema): StructuralCheck | undefined {
  return compile(schema, (part) => {
    switch (part['x-kubernetes-list-type']) {
      case 'set':
        return (value, path, errors) => checkUnique(value, path, errors, (item) => item);
      case 'map':
        return keyedListCheck(part['x-kubernetes-list-map-keys'] ?? []);
      default:
        return undefined;
    }
  });
}

type RuleOf = (part: JsonSchema) => StructuralCheck | undefined;

/** Runs a rule wherever the schema asks for it, and walks only where it does. Compiled part by part when a value first gets there. */
function compile(schema: JsonSchema, ruleOf: RuleOf): StructuralCheck | undefined {
  const parts = schemasWith(schema, (part) => ruleOf(part) !== undefined);
  return parts.has(schema) ? compilePart(schema, ruleOf, parts) : undefined;
}

function lazily(schema: JsonSchema, ruleOf: RuleOf, parts: ReadonlySet<JsonSchema>): StructuralCheck | undefined {
  if (!parts.has(schema)) return undefined;
  let check: StructuralCheck | undefined;
  return (value, path, errors) => (check ??= compilePart(schema, ruleOf, parts))(value, path, errors);
}

function compilePart(schema: JsonSchema, ruleOf: RuleOf, parts: ReadonlySet<JsonSchema>): StructuralCheck {
  const own = ruleOf(schema);
  const properties = new Map(
    Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
      const check = lazily(property, ruleOf, parts);
      return check === undefined ? [] : [[name, check] as const];
    }),
  );
  const namesIn = namesInOrder([...properties.keys()]);
  const values = valueSchema(schema);
  const ofValues = values && lazily(values, ruleOf, parts);
  const ofItems = schema.items && lazily(schema.items, ruleOf, parts);
  return (value, path, errors) => {
    own?.(value, path, errors);
    if (isJsonObject(value)) {
      for (const name of namesIn(value)) {
        const member = value[name];
        if (member !== undefined) properties.get(name)?.(member, path === '' ? name : `${path}.${name}`, errors);
      }
      if (ofValues !== undefined) {
        const keys = keysOf(value);
        eachNowOrLater(value, keys, errors, (key, _, found) => {
          const member = value[key];
          if (member !== undefined) ofValues(member, `${path}[${key}]`, found);
        });
      }
    } else if (isJsonList(value) && ofItems !== undefined) {
      eachNowOrLater(value, value, errors, (item, index, found) => ofItems(item, `${path}[${index}]`, found));
    }
  };
}

/** Puts into `errors` what `check` finds for each item; of a value that is looked at in parts what stands for it. */
function eachNowOrLater<Item>(
  value: JsonValue,
  items: readonly Item[],
  errors: FieldError[],
  check: (item: Item, index: number, errors: FieldError[]) => void,
): void {
  if (!isForLater(value)) return items.forEach((item, index) => check(item, index, errors));
  const later = leftForLater(items, (item, index) => {
    const found: FieldError[] = [];
    check(item, index, found);
    return found;
  });
  errors.push(later);
}

/** Which of the names an object has, in their order: as many steps as the fewer of the two take. */
function namesInOrder(names: readonly string[]): (object: JsonObject) => readonly string[] {
  const places = new Map(names.map((name, place) => [name, place]));
  const placeOf = (name: string): number => places.get(name) ?? 0;
  return (object) => {
    const own = Object.keys(object);
    if (own.length >= names.length) return names.filter((name) => Object.hasOwn(object, name));
    return own.filter((name) => places.has(name)).sort((a, b) => placeOf(a) - placeOf(b));
  };
}

const typeMetaProblems: Readonly<Record<'apiVersion' | 'kind', (text: string) => readonly string[]>> = {
  apiVersion: (text) => (text.split('/', 3).length > 2 ? [`unexpected GroupVersion string: ${text}`] : []),
  kind: (text) => {
    const problems = dns1035LabelProblems(text.toLowerCase());
    const detail = `may have mixed case, but should otherwise match: ${problems.join(',')}`;
    return problems.length === 0 ? [] : [detail];
  },
};

const checkEmbedded: StructuralCheck = (value, path, errors) => {
  if (!isJsonObject(value)) return;
  for (const name of ['apiVersion', 'kind'] as const) {
    const text = value[name];
    const field = `${path}.${name}`;
    if (text === undefined) errors.push(required(field, 'must not be empty'));
    else if (typeof text !== 'string') errors.push(invalid(field, text, 'must be a string'));
    else if (text === '') errors.push(invalid(field, text, 'must not be empty'));
    else errors.push(...typeMetaProblems[name](text).map((problem) => invalid(field, text, problem)));
  }
  const { metadata } = value;
  if (!isJsonObject(metadata)) return;
  const meta = metadata as unknown as ObjectMeta;
  // It need not have a name; whether it has a namespace is its kind's matter.
  const named: ObjectMeta = meta.name ? meta : { ...meta, name: 'unnamed' };
  const rules = {
    namespaced: Boolean(meta.namespace),
    validateName: pathSegmentName,
    unqualifiedFinalizers: true,
  };
  for (const error of validateObjectMeta(named, rules, `${path}.metadata`)) errors.push(error);
};

function keyedListCheck(keys: readonly string[]): StructuralCheck {
  const keysIn = namesInOrder(keys);
  const identity = (item: JsonValue): JsonValue =>
    isJsonObject(item) ? Object.fromEntries(keysIn(item).map((key) => [key, item[key]])) : item;
  return (value, path, errors) => checkUnique(value, path, errors, identity);
}

function checkUnique(
  value: JsonValue,
  path: string,
  errors: FieldError[],
  identity: (item: JsonValue) => JsonValue,
): void {
  if (!isJsonList(value)) return;
  const seen = new Set<string>();
  eachNowOrLater(value, value, errors, (item, index, found) => {
    const text = printGoSyntax(identity(item));
    if (seen.has(text)) {
      found.push({ reason: 'FieldValueDuplicate', field: `${path}[${index}]`, message: `Duplicate value: ${text}` });
    }
    seen.add(text);
  });
}
