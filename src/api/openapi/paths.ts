import type { KindDefinition, ServedVersion } from '../kinds/kind-definition';
import type { JsonObject } from '../object';
import type { Schema } from '../schema/model';
import type { DefinitionSet } from './definitions';
import type { Form, Kept, PrintedPath } from './form';
import { type Operation, operationsOf } from './operations';
import type { ParameterDescription } from './parameters';

/** How a version of OpenAPI describes things. */
export interface Descriptions {
  readonly parameter: (parameter: ParameterDescription) => JsonObject;
  readonly operation: (operation: Operation, types: DefinitionSet) => JsonObject;
}

/** The paths of all kinds, or of those in the wanted group and version, in order. */
export function* printPaths(
  form: Form,
  schema: Schema,
  definitions: readonly KindDefinition[],
  types: DefinitionSet,
  describe: Descriptions,
  isWanted: (group: string, version: string) => boolean = () => true,
): Generator<void, readonly Buffer[], void> {
  const all: PrintedPath[] = [];
  for (const definition of definitions) {
    for (const served of definition.versions) {
      if (!isWanted(served.group, served.version)) continue;
      all.push(...pathsOfKind(form, schema, definition, served, types, describe));
      yield;
    }
  }
  return all.sort((a, b) => (a.path < b.path ? -1 : 1)).map(({ printed }) => printed);
}

/** A kind has its paths for itself. */
function pathsOfKind(
  form: Form,
  schema: Schema,
  definition: KindDefinition,
  { group, version }: ServedVersion,
  types: DefinitionSet,
  describe: Descriptions,
): readonly PrintedPath[] {
  let versions = form.paths.get(definition);
  if (versions === undefined) form.paths.set(definition, (versions = new Map<string, Kept<readonly PrintedPath[]>>()));
  const kept = versions.get(`${group}/${version}`);
  if (kept !== undefined) {
    for (const reference of kept.references) reference(types);
    return kept.printed;
  }
  const fresh = types.recording(() => {
    const items = new Map<string, Record<string, JsonObject | readonly JsonObject[]>>();
    for (const operation of operationsOf(schema, [definition], (g, v) => g === group && v === version)) {
      const { path, method } = operation;
      let item = items.get(path);
      if (item === undefined) {
        items.set(path, (item = { parameters: operation.pathParameters.map(describe.parameter) }));
      }
      item[method] = describe.operation(operation, types);
    }
    return [...items].map(([path, item]): PrintedPath => ({ path, printed: form.path(path, item) }));
  });
  versions.set(`${group}/${version}`, fresh);
  return fresh.printed;
}
