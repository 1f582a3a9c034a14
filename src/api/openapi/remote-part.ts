import type { JsonObject, JsonValue } from '../object';
import type { Steps } from '../parts';
import type { DefinitionSet, GroupVersion } from './definitions';
import type { Form, PrintedPath } from './form';

/** What the v2 document of another server says of one of its group versions. */
export interface RemotePart {
  readonly paths: ReadonlyMap<string, JsonObject>;
  /** All that the paths refer to. */
  readonly definitions: ReadonlyMap<string, JsonObject>;
}

const DEFINITION = '#/definitions/';
const PARAMETER = '#/parameters/';
/** What every API server has; this server's will do for all. */
const COMMON = 'io.k8s.apimachinery.';

/**
 * Takes out of a document what is about a group version. Undefined: it is no such document, or refers to what it does not
 * have, which clients would stumble over.
 */
export function* remotePartOf(document: unknown, { group, version }: GroupVersion): Steps<RemotePart | undefined> {
  if (!isObject(document) || document['swagger'] !== '2.0') return undefined;
  const root = `/apis/${group}/${version}/`;
  const parameters = membersOf(document['parameters']);
  const known = membersOf(document['definitions']);
  const paths = new Map<string, JsonObject>();
  const definitions = new Map<string, JsonObject>();
  const pending: string[] = [];
  const refer = (name: string): void => void pending.push(name);
  for (const [path, item] of membersOf(document['paths'])) {
    if (!path.startsWith(root)) continue;
    const whole = withParameters(item, parameters);
    if (whole === undefined) return undefined;
    paths.set(path, whole);
    eachReference(whole, refer);
    yield;
  }
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (definitions.has(name)) continue;
    const definition = known.get(name);
    if (definition === undefined) return undefined;
    definitions.set(name, definition);
    eachReference(definition, refer);
    yield;
  }
  return { paths, definitions };
}

/**
 * Prints the parts into a document in which `types` has printed its own. Definitions that have a name which stands for another
 * one get a name of their own. A part that cannot be printed is left out.
 */
export function* printRemoteParts(
  form: Form,
  types: DefinitionSet,
  parts: readonly RemotePart[],
): Steps<readonly PrintedPath[]> {
  const paths: PrintedPath[] = [];
  for (const part of parts) {
    try {
      paths.push(...(yield* printPart(form, types, part)));
    } catch (error) {
      // Another server's document may be anything; what an encoder makes of it is not known before.
      if (!(error instanceof Error)) throw error;
    }
  }
  return paths;
}

function* printPart(form: Form, types: DefinitionSet, part: RemotePart): Steps<readonly PrintedPath[]> {
  const names = new Map<string, string>();
  for (const [name, definition] of part.definitions) {
    names.set(name, yield* freeName(form, types, name, definition));
    yield;
  }
  const definitions: (readonly [string, Buffer])[] = [];
  for (const [name, definition] of part.definitions) {
    const given = names.get(name) ?? name;
    if (types.printedAs(given) === undefined) {
      definitions.push([given, yield* form.definition(given, renamed(definition, names) as JsonObject)]);
    }
    yield;
  }
  const paths: PrintedPath[] = [];
  for (const [path, item] of part.paths) {
    paths.push({ path, printed: form.path(path, renamed(item, names) as JsonObject) });
    yield;
  }
  for (const [name, printed] of definitions) types.add(name, printed);
  return paths;
}

/** The name, or a further one where the document has another definition of that name. */
function* freeName(form: Form, types: DefinitionSet, name: string, definition: JsonObject): Steps<string> {
  if (name.startsWith(COMMON)) return name;
  for (let version = 1; ; version += 1) {
    const tried = version === 1 ? name : `${name}_v${version}`;
    const known = types.printedAs(tried);
    if (known === undefined || known.equals(yield* form.definition(tried, definition))) return tried;
  }
}

/** Undefined: one of its parameters is not there. */
function withParameters(item: JsonObject, parameters: ReadonlyMap<string, JsonObject>): JsonObject | undefined {
  let isWhole = true;
  const resolved = (list: JsonValue | undefined): JsonValue | undefined =>
    !Array.isArray(list)
      ? list
      : (list as readonly JsonValue[]).map((one) => {
          const reference = isObject(one) ? one['$ref'] : undefined;
          if (typeof reference !== 'string') return one;
          const found = parameters.get(reference.slice(PARAMETER.length));
          if (found === undefined) isWhole = false;
          return found ?? one;
        });
  const members = Object.entries(item).map(([name, value]): readonly [string, JsonValue | undefined] => {
    if (name === 'parameters') return [name, resolved(value)];
    return [name, isObject(value) ? { ...value, parameters: resolved(value['parameters']) } : value];
  });
  return isWhole ? Object.fromEntries(members) : undefined;
}

function eachReference(value: JsonValue | undefined, refer: (name: string) => void): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value) as (readonly [string, JsonValue | undefined])[]) {
    if (name === '$ref' && typeof member === 'string') refer(member.slice(DEFINITION.length));
    else eachReference(member, refer);
  }
}

function renamed(value: JsonValue | undefined, names: ReadonlyMap<string, string>): JsonValue | undefined {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map((one) => renamed(one, names) as JsonValue);
  const members = Object.entries(value).map(([name, member]): readonly [string, JsonValue | undefined] => {
    if (name !== '$ref' || typeof member !== 'string') return [name, renamed(member, names)];
    const of = member.slice(DEFINITION.length);
    return [name, `${DEFINITION}${names.get(of) ?? of}`];
  });
  return Object.fromEntries(members);
}

function membersOf(value: JsonValue | undefined): ReadonlyMap<string, JsonObject> {
  const entries = isObject(value) ? Object.entries(value) : [];
  return new Map(entries.filter((entry): entry is [string, JsonObject] => isObject(entry[1])));
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
