import { whenKnown, type MaybePromise } from '../../api/maybe-promise';
import type { UserInfo } from '../../api/user';
import { isMaster, type MaxInFlight, type Seats } from '../../flowcontrol/max-in-flight';
import type { PriorityAndFairness } from '../../flowcontrol/priority-and-fairness';
import type { WorkSources } from '../../flowcontrol/work-estimate';
import { ClientGoneError, type RequestContext } from '../request/context';
import type { RequestInfo } from '../request/request-info';
import { isLongRunning } from './deadline';
import { isProbe } from './probes';
import { tooManyInFlight } from '../response/refusals';

/**
 * A request has a seat while the server works on it. While it waits for its client, who sends a body or reads a response, the
 * seat is for others: a client that takes its time takes no place from others. Lists are work until they are handed
 * over, or the client has taken nothing for a second.
 */

/** How many of the seats a user has. */
export type TakenBy = (user: UserInfo, seats: Seats) => number;

/** Throws the 429 of a server that has as many requests under way as it may. */
export function acquireSeat(context: RequestContext, maxInFlight: MaxInFlight, takenBy: TakenBy): void {
  // A client that is gone already would never give its seat back.
  if (context.finished || isLongRunning(context) || isProbe(context.info)) return;
  const admittance = maxInFlight.admit(context.info.verb, context.user, takenBy);
  if (admittance === 'exempt') return;
  if (admittance === 'dropped') turnAway(context);
  context.seat = admittance;
}

/**
 * The same by priority and fairness: a request that finds no seat may wait for one. Of those that last, a watch has a seat
 * until it has begun, and the others have none.
 */
export function acquireFairSeat(
  context: RequestContext,
  fairness: PriorityAndFairness,
  sources: WorkSources<RequestInfo>,
): MaybePromise<void> {
  const { info, user } = context;
  if (context.finished || user === undefined) return;
  const isWatch = isLongRunning(context);
  if (isWatch && info.verb !== 'watch') return;
  const request = fairness.classify(info, user, sources, performance.now());
  // As kube-apiserver has it, not of what lasts.
  if (!isWatch && request.schema.names !== undefined) context.response.flow = request.schema.names;
  if (isProbe(info)) return;
  context.seat = request;
  return whenAdmitted(context, fairness.admit(request));
}

/** The request has ended, as far as the server has work with it. */
export function leaveSeat(context: RequestContext): void {
  context.seat?.release();
  context.seat = undefined;
}

/** It waits for its client, and comes back with {@link returnToSeat}. */
export function pauseSeat(context: RequestContext): void {
  const { seat } = context;
  if (seat === undefined) return;
  seat.pause();
  context.seat = undefined;
  context.seatLeft = seat;
}

/** Once the client has been waited for. Throws as {@link acquireSeat}. */
export function returnToSeat(context: RequestContext): MaybePromise<void> {
  const { seatLeft: seat } = context;
  if (seat === undefined || context.finished) return;
  context.seatLeft = undefined;
  context.seat = seat;
  return whenAdmitted(context, seat.resume());
}

function whenAdmitted(context: RequestContext, admitted: MaybePromise<boolean>): MaybePromise<void> {
  if (admitted === true) return;
  return whenKnown(admitted, (isAdmitted) => {
    if (isAdmitted) return;
    const { seat } = context;
    context.seat = undefined;
    if (context.finished) throw new ClientGoneError();
    if (seat === undefined || isMaster(context.user)) return;
    seat.drop();
    turnAway(context);
  });
}

function turnAway(context: RequestContext): never {
  context.turnedAway = true;
  throw tooManyInFlight();
}
