import { badRequest } from '../../api/errors/status-error';
import type { GroupVersionKind } from '../../api/object';
import type { Schema, TypeRef } from '../../api/schema/model';
import { parseTime, TimeError } from '../../api/time/rfc3339';
import { parseInt64Parameter } from './go-number';
import type { Query } from './query';

/** Options of one kind as the query gives them; a field that is not there, or is false, is left out. */
export type QueryOptions = Readonly<Record<string, unknown>>;

/**
 * The fields of an options kind (PodExecOptions, PodLogOptions), each from the parameter of its name. Parameters that the
 * kind does not have count for nothing. Throws a 400 for numbers and times that are none.
 */
export function optionsFromQuery(
  query: Query,
  { group, version, kind }: GroupVersionKind,
  schema: Schema,
): QueryOptions {
  const type = schema.kind(group, version, kind);
  if (type === undefined) throw new Error(`the schema has no ${kind}`);
  const options: Record<string, unknown> = {};
  for (const { name, type: fieldType } of type.fields.values()) {
    if (name === 'kind' || name === 'apiVersion' || !query.has(name)) continue;
    const value = valueOf(fieldType, query, name);
    if (value !== undefined) options[name] = value;
  }
  return options;
}

function valueOf(type: TypeRef, query: Query, name: string): unknown {
  if (type.kind === 'list') return query.all(name).map((text) => scalarOf(type.items, text));
  if (type.kind === 'scalar' && type.scalar === 'bool') return query.flag(name) || undefined;
  const text = query.first(name) ?? '';
  return text === '' && type.kind === 'scalar' && type.scalar === 'string' ? undefined : scalarOf(type, text);
}

function scalarOf(type: TypeRef, text: string): string | number | bigint | undefined {
  if (type.kind === 'special') return checkedTime(text);
  const isNumber = type.kind === 'scalar' && (type.scalar === 'int32' || type.scalar === 'int64');
  return isNumber ? parseInt64Parameter(text) : text;
}

function checkedTime(text: string): string {
  try {
    parseTime(text);
    return text;
  } catch (error) {
    if (error instanceof TimeError) throw badRequest(error.message);
    throw error;
  }
}
