import { extend } from './extend';
import type { JsonObject, JsonValue } from './object';

/** The map's members in a map that may be written to. In turns: `steps/copy-map.ts`. */
export function copyMap(map: JsonObject): Record<string, JsonValue> {
  return extend(map) as Record<string, JsonValue>;
}
