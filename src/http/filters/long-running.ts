import { longRunningCost, type LongRunningRequests } from '../../flowcontrol/long-running-requests';
import type { RequestContext } from '../request/context';
import { outOfRoom } from '../response/refusals';
import { isLongRunning } from './deadline';

/** Throws a 429 when requests that last, or those of its user, leave no room for another. What it takes it has until it ends. */
export function admitLongRunning(context: RequestContext, requests: LongRunningRequests): void {
  const { info, request, user } = context;
  if (context.finished || user === undefined || !isLongRunning(context)) return;
  const end = requests.begin(user, longRunningCost(info.verb === 'watch', request.httpVersion !== '2.0'));
  if (end === undefined) {
    context.turnedAway = true;
    throw outOfRoom(info.verb === 'watch' ? 'watches' : 'streams');
  }
  context.onFinished(end);
}
