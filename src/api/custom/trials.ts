import { valueSchema, type JsonSchema } from './json-schema';

/** More than of integers that may be texts. */
const FEW = 8;
/** So many values that an enum names take as long as a pattern. */
const VALUES_OF_ENUM = 250;

/**
 * Whether values may have to be tried against so many alternatives (`anyOf`, `oneOf`, `allOf`, `not`), patterns and values of enums, in the schema
 * itself or in what stands in it, that how long that takes does not show in the size of an object. Looks no further than it must.
 */
export function hasManyTrials(schema: JsonSchema): boolean {
  const pending = [schema];
  let count = 0;
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (part.pattern !== undefined) count += 1;
    if (part.enum !== undefined) count += Math.floor(part.enum.length / VALUES_OF_ENUM);
    for (const listed of [part.anyOf, part.oneOf, part.allOf]) {
      if (listed === undefined) continue;
      count += listed.length;
      if (count > FEW) return true;
      pending.push(...listed);
    }
    if (part.not !== undefined) {
      count += 1;
      pending.push(part.not);
    }
    if (count > FEW) return true;
    if (part.items !== undefined) pending.push(part.items);
    const values = valueSchema(part);
    if (values !== undefined) pending.push(values);
    if (part.properties !== undefined) for (const one of Object.values(part.properties)) pending.push(one);
  }
  return false;
}
