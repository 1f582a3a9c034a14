import type { KindDefinition, ServedVersion } from '../kinds/kind-definition';
import type { JsonObject } from '../object';
import type { Steps } from '../parts';
import { sortInRuns } from '../steps/generated/sort-in-runs';
import type { Schema } from '../schema/model';
import type { DefinitionSet } from './definitions';
import { discoveryOperations } from './discovery-operations';
import type { Form, Kept, PrintedPath } from './form';
import { type Operation, operationsOf } from './operations';
import { byName, type ParameterDescription } from './parameters';

/** How a version of OpenAPI describes things. */
export interface Descriptions {
  readonly parameter: (parameter: ParameterDescription) => JsonObject;
  readonly operation: (operation: Operation, types: DefinitionSet) => JsonObject;
}

/** The paths of all kinds and of discovery, or of those in the wanted group and version. */
export function* printPaths(
  form: Form,
  schema: Schema,
  definitions: readonly KindDefinition[],
  types: DefinitionSet,
  describe: Descriptions,
  wanted?: { readonly group: string; readonly version: string },
): Steps<readonly PrintedPath[]> {
  const all: PrintedPath[] = [];
  const isWanted = (group: string, version: string): boolean =>
    wanted === undefined || (group === wanted.group && version === wanted.version);
  for (const definition of definitions) {
    for (const served of definition.versions) {
      if (!isWanted(served.group, served.version)) continue;
      all.push(...(yield* pathsOfKind(form, schema, definition, served, types, describe)));
      yield;
    }
  }
  const builtIn = definitions.filter(({ kind, versions: [first] }) => {
    return first !== undefined && schema.kind(first.group, first.version, kind) !== undefined;
  });
  for (const operation of discoveryOperations(builtIn, wanted)) {
    all.push(yield* discoveryPath(form, operation, types, describe));
  }
  return all;
}

export function* inOrder(paths: readonly PrintedPath[]): Steps<readonly Buffer[]> {
  const sorted = yield* sortInRuns(paths, (a, b) => (a.path < b.path ? -1 : 1));
  return sorted.map(({ printed }) => printed);
}

/** A kind has its paths for itself. */
function* pathsOfKind(
  form: Form,
  schema: Schema,
  definition: KindDefinition,
  { group, version }: ServedVersion,
  types: DefinitionSet,
  describe: Descriptions,
): Steps<readonly PrintedPath[]> {
  let versions = form.paths.get(definition);
  if (versions === undefined) form.paths.set(definition, (versions = new Map<string, Kept<readonly PrintedPath[]>>()));
  return yield* printedOnce(versions, `${group}/${version}`, types, () => {
    const operations = operationsOf(schema, [definition], (g, v) => g === group && v === version);
    return pathsOf(form, operations, types, describe);
  });
}

function discoveryPath(
  form: Form,
  operation: Operation,
  types: DefinitionSet,
  describe: Descriptions,
): Steps<PrintedPath> {
  return printedOnce(form.discovery, operation.path, types, () =>
    printPath(form, [operation.path, [operation]], types, describe),
  );
}

function* printedOnce<Printed>(
  known: Map<string, Kept<Printed>>,
  key: string,
  types: DefinitionSet,
  print: () => Steps<Printed>,
): Steps<Printed> {
  const kept = known.get(key);
  if (kept !== undefined) {
    for (const reference of kept.references) reference(types);
    return kept.printed;
  }
  const fresh = yield* types.recording(print());
  known.set(key, fresh);
  return fresh.printed;
}

function* pathsOf(
  form: Form,
  operations: readonly Operation[],
  types: DefinitionSet,
  describe: Descriptions,
): Steps<readonly PrintedPath[]> {
  const byPath = new Map<string, Operation[]>();
  for (const operation of operations) {
    const others = byPath.get(operation.path);
    if (others === undefined) byPath.set(operation.path, [operation]);
    else others.push(operation);
  }
  const printed: PrintedPath[] = [];
  for (const ofPath of byPath) printed.push(yield* printPath(form, ofPath, types, describe));
  return printed;
}

function* printPath(
  form: Form,
  [path, operations]: readonly [string, readonly Operation[]],
  types: DefinitionSet,
  describe: Descriptions,
): Steps<PrintedPath> {
  const printed = form.path(path, pathItem(operations, types, describe));
  yield;
  return { path, printed };
}

/** What all operations of a path take, the path takes. */
function pathItem(operations: readonly Operation[], types: DefinitionSet, describe: Descriptions): JsonObject {
  const [first, ...others] = operations;
  const shared = (first?.parameters ?? []).filter((parameter) =>
    others.every(({ parameters }) => parameters.includes(parameter)),
  );
  const item: Record<string, JsonObject | readonly JsonObject[]> = {};
  if (shared.length > 0) item['parameters'] = [...shared].sort(byName).map(describe.parameter);
  for (const operation of operations) {
    const parameters = operation.parameters.filter((parameter) => !shared.includes(parameter)).sort(byName);
    item[operation.method] = describe.operation({ ...operation, parameters }, types);
  }
  return item;
}
