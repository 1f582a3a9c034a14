import { badRequest } from '../../api/errors/status-error';
import { exactFieldValue, parseFieldSelector } from '../../api/selectors/field-selector';
import { Query } from './query';

/** What the URL and the method say. Every later step asks this record; nothing else reads the URL. */
export interface RequestInfo {
  /** Decoded, with its leading slash. */
  readonly path: string;
  readonly query: Query;
  readonly isResourceRequest: boolean;
  /**
   * `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; empty for other methods. For
   * non-resource requests the lower-case method.
   */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  /** Empty for cluster-scoped requests. A namespace object counts as standing in itself. */
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  /** Also what `fieldSelector=metadata.name=x` names in a list or a watch. */
  readonly name: string;
  /** The name stands in the path itself, not only in a selector. */
  readonly named: boolean;
  /** From the resource on: `[pods, p1, log]`. */
  readonly parts: readonly string[];
  /** The path has the deprecated `/watch/` prefix. */
  readonly watchPrefix: boolean;
}

const METHOD_VERBS: ReadonlyMap<string, string> = new Map([
  ['POST', 'create'],
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
]);
const SPECIAL_VERBS: ReadonlySet<string> = new Set(['proxy', 'watch']);
/** `/namespaces/{name}/status` is a subresource of the namespace, not a resource in it. */
const NAMESPACE_SUBRESOURCES: ReadonlySet<string> = new Set(['status', 'finalize']);

/** The URL's path cannot be decoded; answered in plain text, since nothing is known of the request. */
export class MalformedPathError extends Error {}

/**
 * Reads method and URL (spec, "Generic path shapes"). Throws {@link MalformedPathError} for a path that cannot be
 * decoded, and a 400 for `/api/v1/watch` without anything to watch.
 */
export function parseRequestInfo(method: string, url: string): RequestInfo {
  const mark = url.indexOf('?');
  const path = decodePath(mark < 0 ? url : url.slice(0, mark));
  const query = mark < 0 ? Query.EMPTY : Query.parse(url.slice(mark + 1));

  const parts = splitPath(path);
  const groupless = parts[0] === 'api';
  const [start, enough] = groupless ? [1, parts.length >= 3] : [2, parts[0] === 'apis' && parts.length >= 4];
  if (!enough) return nonResource(path, query, method);

  const group = groupless ? '' : (parts[1] ?? '');
  const version = parts[start] ?? '';
  let rest = parts.slice(start + 1);

  let verb = METHOD_VERBS.get(method) ?? '';
  const special = SPECIAL_VERBS.has(rest[0] ?? '');
  if (special) {
    if (rest.length < 2) throw badRequest(`unable to determine kind and namespace from url, ${path}`);
    verb = rest[0] ?? '';
    rest = rest.slice(1);
  }

  let namespace = '';
  if (rest[0] === 'namespaces' && rest.length > 1) {
    namespace = rest[1] ?? '';
    if (rest.length > 2 && !NAMESPACE_SUBRESOURCES.has(rest[2] ?? '')) rest = rest.slice(2);
  }
  const nameInPath = rest[1] ?? '';
  let name = nameInPath;
  if (name === '') {
    if (verb === 'get') verb = query.flag('watch') ? 'watch' : 'list';
    else if (verb === 'delete') verb = 'deletecollection';
    if (verb === 'list' || verb === 'watch') {
      name = selectedName(query.first('fieldSelector'));
    }
  }
  return {
    path,
    query,
    isResourceRequest: true,
    verb,
    group,
    version,
    namespace,
    resource: rest[0] ?? '',
    subresource: verb === 'proxy' ? '' : (rest[2] ?? ''),
    name,
    named: nameInPath !== '',
    parts: rest,
    watchPrefix: special && verb === 'watch',
  };
}

/**
 * The name that a field selector demands: a request for one object by selector is authorized like one by name. A selector
 * that cannot be read demands nothing here; the endpoint refuses it later.
 */
function selectedName(selector: string | undefined): string {
  if (selector === undefined || !selector.includes('metadata.name')) return '';
  try {
    return exactFieldValue(parseFieldSelector(selector), 'metadata.name') ?? '';
  } catch {
    return '';
  }
}

/** Of a request that has not been looked at yet. */
export const UNREAD: RequestInfo = nonResource('', Query.EMPTY, '');

function nonResource(path: string, query: Query, method: string): RequestInfo {
  return {
    path,
    query,
    isResourceRequest: false,
    verb: method.toLowerCase(),
    group: '',
    version: '',
    namespace: '',
    resource: '',
    subresource: '',
    name: '',
    named: false,
    parts: [],
    watchPrefix: false,
  };
}

function decodePath(raw: string): string {
  const path = raw.startsWith('/') ? raw : originForm(raw);
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    throw new MalformedPathError(`the path cannot be decoded: ${raw}`);
  }
}

/** Proxies send absolute URLs, `OPTIONS *` has no path at all. */
function originForm(raw: string): string {
  const scheme = raw.indexOf('://');
  if (scheme < 0) return `/${raw}`;
  const slash = raw.indexOf('/', scheme + 3);
  return slash < 0 ? '/' : raw.slice(slash);
}

/** Without the slashes at both ends; empty segments inside stay. */
function splitPath(path: string): readonly string[] {
  let start = 0;
  let end = path.length;
  while (start < end && path.charCodeAt(start) === 0x2f) start++;
  while (end > start && path.charCodeAt(end - 1) === 0x2f) end--;
  if (start === end) return [];
  // What `split` does, without its price for texts that it has not seen before.
  const parts: string[] = [];
  for (let slash = path.indexOf('/', start); slash >= 0 && slash < end; slash = path.indexOf('/', start)) {
    parts.push(path.slice(start, slash));
    start = slash + 1;
  }
  parts.push(path.slice(start, end));
  return parts;
}
