import { stringifyExact } from '../codec/exact-json';
import type { JsonObject } from '../object';
import type { Steps } from '../parts';
import type { Dialect } from './custom-definition';
import { stringifySteps } from './print-steps';

/** What was printed, and what it refers to: to be asked for in every document in which it stands. */
export interface Kept<Printed> {
  readonly printed: Printed;
  readonly references: readonly Reference[];
}

/** Asks a document's set of definitions for one of them. */
export type Reference = (definitions: unknown) => void;

/**
 * A way of writing documents. Paths and definitions are printed one by one; those of a kind stay as they are for as long as
 * the kind does, so that a changed definition costs no more than what is printed of it.
 */
export interface Form {
  readonly dialect: Dialect;
  readonly path: (path: string, item: JsonObject) => Buffer;
  readonly definition: (name: string, definition: JsonObject) => Steps<Buffer>;
  /** Definitions by the type or schema that they are of. */
  readonly definitions: WeakMap<object, Kept<Buffer> & { readonly name: string }>;
  /** Paths by kind, and then by group and version. */
  readonly paths: WeakMap<object, Map<string, Kept<readonly PrintedPath[]>>>;
  /** Paths of discovery, by path. */
  readonly discovery: Map<string, Kept<PrintedPath>>;
}

export interface PrintedPath {
  readonly path: string;
  readonly printed: Buffer;
}

/** Members of JSON objects. */
export function jsonForm(dialect: Dialect): Form {
  return {
    dialect,
    path: (path, item) => Buffer.from(`${JSON.stringify(path)}:${stringifyExact(item)}`),
    *definition(name, definition) {
      return Buffer.concat([Buffer.from(`${JSON.stringify(name)}:`), yield* stringifySteps(definition)]);
    },
    definitions: new WeakMap(),
    paths: new WeakMap(),
    discovery: new Map(),
  };
}

const COMMA = Buffer.from(',');

/** `{` + `before` + the members + `after`: the texts of a JSON document around its members. */
export function joinMembers(before: string, members: readonly Buffer[], after: string): readonly Buffer[] {
  const joined: Buffer[] = [Buffer.from(before)];
  for (const member of members) {
    if (joined.length > 1) joined.push(COMMA);
    joined.push(member);
  }
  joined.push(Buffer.from(after));
  return joined;
}
