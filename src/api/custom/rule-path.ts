import { valueSchema, type JsonSchema } from './json-schema';

/** A rule's `fieldPath`, `.spec.names['a.b']`. */
export interface RulePath {
  readonly names: readonly string[];
  /** As errors write it. */
  readonly text: string;
}

const PART = /\.([a-zA-Z_][a-zA-Z0-9_-]*)|\['((?:[^'\\]|\\.)*)'\]/y;

/** Undefined: it is no such path. */
export function parseRulePath(path: string): RulePath | undefined {
  const names: string[] = [];
  let text = '';
  let position = 0;
  while (position < path.length) {
    PART.lastIndex = position;
    const match = PART.exec(path);
    if (match === null) return undefined;
    const name = match[1] ?? (match[2] ?? '').replace(/\\(.)/g, '$1');
    names.push(name);
    text += match[1] === undefined ? `[${name}]` : `.${name}`;
    position = PART.lastIndex;
  }
  return { names, text };
}

/** Whether the schema has what the path names. */
export function pathExists(schema: JsonSchema, { names }: RulePath): boolean {
  let part: JsonSchema | undefined = schema;
  for (const name of names) {
    const properties: Readonly<Record<string, JsonSchema>> = part.properties ?? {};
    part = Object.hasOwn(properties, name) ? properties[name] : valueSchema(part);
    if (part === undefined) return false;
  }
  return true;
}
