import { valueSchema, type JsonSchema } from './json-schema';

/** How many alternatives (`anyOf`, `oneOf`, `allOf`, `not`) there are within schemas that have been looked at. */
const counted = new WeakMap<JsonSchema, number>();

/** More than of integers that may be texts. */
const FEW = 8;

/**
 * Whether values may have to be tried against so many alternatives, in the schema itself or in what stands in it, that how
 * long that takes does not show in the size of an object.
 */
export function hasManyAlternatives(schema: JsonSchema): boolean {
  return countAlternatives(schema) > FEW;
}

function countAlternatives(schema: JsonSchema): number {
  const known = counted.get(schema);
  if (known !== undefined) return known;
  const { anyOf = [], oneOf = [], allOf = [], not, items, properties = {} } = schema;
  const alternatives = [...anyOf, ...oneOf, ...allOf, ...(not === undefined ? [] : [not])];
  const values = valueSchema(schema);
  const inside = [...Object.values(properties), ...(items ? [items] : []), ...(values ? [values] : [])];
  let count = alternatives.length;
  for (const one of alternatives) count += countAlternatives(one);
  for (const one of inside) count += countAlternatives(one);
  counted.set(schema, count);
  return count;
}
