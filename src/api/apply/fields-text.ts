import type { JsonObject } from '../object';

/** The text by which equal FieldsV1 are found. In turns: `steps/fields-text.ts`. */
export function fieldsText(fields: JsonObject): string | undefined {
  return JSON.stringify(fields);
}
