import { timeout } from '../api/errors/status-error';
import { DurationError, formatDuration, parseDuration } from '../api/time/duration';
import type { RequestContext } from './context';

/** What a create, update, patch or delete may take unless it says otherwise. */
const DEFAULT_WRITE_TIMEOUT_MS = 34_000;
const NANOS_PER_MS = 1e6;
const WRITE_VERBS: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);
const STREAMING_SUBRESOURCES: ReadonlySet<string> = new Set(['attach', 'exec', 'proxy', 'log', 'portforward']);

/** Requests that last as long as the client wants: no deadline, no seat in flow control. */
export function isLongRunning({ info }: RequestContext): boolean {
  return (
    info.isResourceRequest &&
    (info.verb === 'watch' || info.verb === 'proxy' || STREAMING_SUBRESOURCES.has(info.subresource))
  );
}

/** After it the request is aborted; the funnel then answers 504. `timeout` of the query shortens it, junk is ignored. */
export function startDeadline(context: RequestContext, requestTimeoutMs: number): void {
  if (isLongRunning(context)) return;
  const limitMs = Math.min(wantedMs(context) ?? requestTimeoutMs, requestTimeoutMs);
  const timer = setTimeout(() => {
    context.expire(
      timeout(
        `request did not complete within requested timeout ${formatDuration(BigInt(Math.round(limitMs * NANOS_PER_MS)))}`,
      ),
    );
  }, limitMs);
  context.onFinished(() => clearTimeout(timer));
}

function wantedMs({ info }: RequestContext): number | undefined {
  const text = info.query.first('timeout');
  const wanted = text === undefined ? undefined : milliseconds(text);
  if (wanted !== undefined && wanted > 0) return wanted;
  return info.isResourceRequest && WRITE_VERBS.has(info.verb) ? DEFAULT_WRITE_TIMEOUT_MS : undefined;
}

/** Undefined for what is no duration. */
function milliseconds(text: string): number | undefined {
  try {
    return Number(parseDuration(text)) / NANOS_PER_MS;
  } catch (error) {
    if (error instanceof DurationError) return undefined;
    throw error;
  }
}
