import type { RequestLabels, RequestMetrics } from '../../observability/request-metrics';
import type { RequestContext } from '../request/context';
import { isLongRunning } from './deadline';
import { mediaTypeOf } from '../request/decode';

/** Tells what is really served: labels come from nothing else, so that strangers cannot make up series. */
export interface KnownPaths {
  readonly isKnownResource: (group: string, version: string, resource: string) => boolean;
  readonly isKnownPath: (path: string) => boolean;
}

/** By the verb of the request, which for non-resource requests is whatever method the client made up. */
const VERBS: ReadonlyMap<string, string> = new Map([
  ['get', 'GET'],
  ['list', 'LIST'],
  ['watch', 'WATCH'],
  ['create', 'POST'],
  ['update', 'PUT'],
  ['patch', 'PATCH'],
  ['delete', 'DELETE'],
  ['deletecollection', 'DELETECOLLECTION'],
  ['proxy', 'CONNECT'],
  ['post', 'POST'],
  ['put', 'PUT'],
  ['head', 'HEAD'],
]);
const CONNECTED: ReadonlySet<string> = new Set(['exec', 'attach', 'portforward', 'proxy']);

/** Counts and times a request when it is over. */
export function measureRequest(context: RequestContext, metrics: RequestMetrics, known: KnownPaths): void {
  const labels = requestLabels(context, known);
  const longRunning = isLongRunning(context);
  const end = longRunning ? metrics.startLongRunning(labels) : undefined;
  context.onFinished(() => {
    end?.();
    const { statusCode: code, responseBytes, receivedAt } = context;
    if (!context.response.writableFinished && !longRunning) metrics.recordAbort(labels);
    if (code === 504 || context.turnedAway) metrics.recordTermination(labels, code);
    const durationSeconds = (performance.now() - receivedAt) / 1000;
    const outcome = { code, responseBytes, longRunning, durationSeconds };
    // A user without rights may ask for any combination of labels.
    const isRefused = code === 401 || code === 403;
    if (context.requestBytes > 0 && labels.resource !== '') measureWrite(context, metrics, durationSeconds);
    metrics.recordRequest(isRefused ? { ...labels, scope: '', dryRun: '' } : labels, outcome);
  });
}

const VALIDATED: ReadonlySet<string> = new Set(['create', 'update', 'patch']);
const FIELD_VALIDATIONS: ReadonlySet<string> = new Set(['Ignore', 'Warn', 'Strict']);

/** Of a request for a resource that is served, with a body. */
function measureWrite({ info, requestBytes }: RequestContext, { writes }: RequestMetrics, seconds: number): void {
  const { group, resource, verb } = info;
  writes.recordBody(group === '' ? resource : `${resource}.${group}`, verb, requestBytes);
  if (!VALIDATED.has(verb)) return;
  const wanted = info.query.first('fieldValidation') ?? '';
  writes.recordValidation(FIELD_VALIDATIONS.has(wanted) ? wanted : 'Ignore', seconds);
}

function requestLabels({ info, request }: RequestContext, known: KnownPaths): RequestLabels {
  const dryRun = dryRunLabel(info.query.all('dryRun'));
  if (!info.isResourceRequest) {
    const subresource = known.isKnownPath(info.path) ? info.path : '';
    return {
      verb: VERBS.get(info.verb) ?? 'other',
      group: '',
      version: '',
      resource: '',
      subresource,
      scope: '',
      dryRun,
    };
  }
  const verb = verbLabel(info.verb, info.subresource, request.headers['content-type']);
  const scope =
    info.name !== '' || info.verb === 'create' ? 'resource' : info.namespace !== '' ? 'namespace' : 'cluster';
  const { group, version, resource, subresource } = info;
  return known.isKnownResource(group, version, resource)
    ? { verb, group, version, resource, subresource: boundedSubresource(subresource), scope, dryRun }
    : { verb, group: '', version: '', resource: '', subresource: '', scope, dryRun };
}

function verbLabel(verb: string, subresource: string, contentType: string | undefined): string {
  if (CONNECTED.has(subresource)) return 'CONNECT';
  if (verb === 'patch' && mediaTypeOf(contentType) === 'application/apply-patch+yaml') return 'APPLY';
  return VERBS.get(verb) ?? 'other';
}

const SUBRESOURCES: ReadonlySet<string> = new Set([
  '',
  'approval',
  'attach',
  'binding',
  'ephemeralcontainers',
  'eviction',
  'exec',
  'finalize',
  'log',
  'portforward',
  'proxy',
  'resize',
  'scale',
  'status',
  'token',
]);

function boundedSubresource(subresource: string): string {
  return SUBRESOURCES.has(subresource) ? subresource : 'other';
}

function dryRunLabel(values: readonly string[]): RequestLabels['dryRun'] {
  if (values.length === 0) return '';
  return values.every((value) => value === 'All') ? 'All' : 'invalid';
}
