import type { Logger } from '../../observability/logger';
import type { RequestContext } from '../request/context';

/** A client may have made it up: no more of it is logged. */
const MAX_TEXT = 2_048;

/** Writes down every request that comes while that is wanted, when it is over, with kube-apiserver's names of its parts. */
export function requestLog(logger: Logger, isWanted: () => boolean): (context: RequestContext) => void {
  return (context) => {
    if (!isWanted()) return;
    const { method, url = '', socket, headers } = context.request;
    // A connection that has ended does not know any more where it came from.
    const srcIP = `${socket.remoteAddress ?? ''}:${socket.remotePort ?? ''}`;
    const userAgent = headers['user-agent']?.slice(0, MAX_TEXT) ?? '';
    context.onFinished(() => {
      const latency = `${(performance.now() - context.receivedAt).toFixed(3)}ms`;
      const { trace } = context;
      const request = { verb: method, URI: url.slice(0, MAX_TEXT), latency, userAgent, srcIP };
      const traced = trace === undefined ? {} : { traceID: trace.traceId };
      logger.info({ ...request, resp: context.statusCode, ...traced }, 'HTTP');
    });
  };
}
