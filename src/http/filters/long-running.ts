import { longRunningCost, type LongRunningRequests, type RequestSize } from '../../flowcontrol/long-running-requests';
import type { RequestContext } from '../request/context';
import type { HttpRequest } from '../transport/exchange';
import { outOfRoom } from '../response/refusals';
import { isLongRunning } from './deadline';

/** Throws a 429 when requests that last, or those of its user, leave no room for another. What it takes it has until it ends. */
export function admitLongRunning(context: RequestContext, requests: LongRunningRequests): void {
  const { info, request, user } = context;
  if (context.finished || user === undefined || !isLongRunning(context)) return;
  const end = requests.begin(
    user,
    longRunningCost(info.verb === 'watch', request.httpVersion !== '2.0', sizeOf(request)),
  );
  if (end === undefined) {
    context.turnedAway = true;
    throw outOfRoom(info.verb === 'watch' ? 'watches' : 'streams');
  }
  context.onFinished(end);
}

/** What HTTP/2 adds to the name and value of each. */
const HEADER_BYTES = 32;

function sizeOf({ url = '', headers }: Pick<HttpRequest, 'url' | 'headers'>): RequestSize {
  let headerBytes = 0;
  for (const [name, value = ''] of Object.entries(headers)) {
    for (const one of typeof value === 'string' ? [value] : value) {
      headerBytes += name.length + one.length + HEADER_BYTES;
    }
  }
  return { urlCharacters: url.length, headerBytes };
}
