import { extend } from './extend';
import type { JsonObject, JsonValue } from './object';

/** The map's members in a map that may be written to. In turns: `steps/copy-map.ts`. */
export function copyMap(map: JsonObject): Record<string, JsonValue> {
  return extend(map) as Record<string, JsonValue>;
}

/**
 * `map` is finished, and has no keys but those of the two others. In turns: `steps/copy-map.ts`, so that what is large need not be listed by
 * who looks at it next.
 */
export function finishMap(_map: JsonObject, _one: JsonObject, _other?: JsonObject): void {
  // Small maps are listed in no time.
}
