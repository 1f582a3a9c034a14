import type { ScalarName, StructType, TypeRef } from '../schema/model';

/** A parameter in the path or the query of a request. */
export interface ParameterDescription {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly type: 'string' | 'integer' | 'boolean';
  readonly description: string;
}

/** The order of parameters in documents. */
export function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}

function query(name: string, type: ParameterDescription['type'], description: string): ParameterDescription {
  return { name, in: 'query', type, description };
}

export const NAME: ParameterDescription = {
  name: 'name',
  in: 'path',
  type: 'string',
  description: 'Name of the object.',
};

export const NAMESPACE: ParameterDescription = {
  name: 'namespace',
  in: 'path',
  type: 'string',
  description: 'Namespace of the object.',
};

export const PROXY_PATH: ParameterDescription = {
  name: 'path',
  in: 'path',
  type: 'string',
  description: 'The path to request from the other side.',
};

export const PRETTY = query('pretty', 'string', "If 'true', the answer is indented.");

const DRY_RUN = query('dryRun', 'string', 'All: do everything but store the result.');
const FIELD_MANAGER = query('fieldManager', 'string', 'The name under which ownership of changed fields is recorded.');
const FIELD_VALIDATION = query(
  'fieldValidation',
  'string',
  'What to do about unknown and duplicate fields: Ignore, Warn or Strict.',
);

export const WRITE: readonly ParameterDescription[] = [DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION];

export const PATCH: readonly ParameterDescription[] = [
  ...WRITE,
  query('force', 'boolean', 'Server-side apply: take fields over from other managers.'),
];

export const DELETE: readonly ParameterDescription[] = [
  DRY_RUN,
  query('gracePeriodSeconds', 'integer', 'Seconds until the object is gone; 0 removes it at once.'),
  query('orphanDependents', 'boolean', 'Deprecated: use propagationPolicy.'),
  query('propagationPolicy', 'string', 'What becomes of dependents: Orphan, Background or Foreground.'),
];

export const LIST: readonly ParameterDescription[] = [
  query('allowWatchBookmarks', 'boolean', 'Watch: whether to send bookmarks.'),
  query('continue', 'string', 'The token of the page before.'),
  query('fieldSelector', 'string', 'Only objects whose fields match.'),
  query('labelSelector', 'string', 'Only objects whose labels match.'),
  query('limit', 'integer', 'How many objects to answer at most.'),
  query('resourceVersion', 'string', 'How fresh the answer must be, or where a watch begins.'),
  query('resourceVersionMatch', 'string', 'How resourceVersion is meant: Exact or NotOlderThan.'),
  query('sendInitialEvents', 'boolean', 'Watch: begin with the objects that exist.'),
  query('timeoutSeconds', 'integer', 'How long the request may take, or a watch last.'),
  query('watch', 'boolean', 'Answer changes as they happen instead of a list.'),
];

/** The query parameters of a request whose options are a kind (PodLogOptions): its fields. */
export function parametersOf(options: StructType): readonly ParameterDescription[] {
  return [...options.fields.values()].map(({ name, type, description }) =>
    query(name, parameterType(type), description),
  );
}

/** A list is the parameter several times. */
function parameterType(type: TypeRef): ParameterDescription['type'] {
  if (type.kind === 'list') return parameterType(type.items);
  return type.kind === 'scalar' ? PARAMETER_TYPES[type.scalar] : 'string';
}

const PARAMETER_TYPES: Readonly<Record<ScalarName, ParameterDescription['type']>> = {
  string: 'string',
  bool: 'boolean',
  int32: 'integer',
  int64: 'integer',
  double: 'integer',
  bytes: 'string',
};
