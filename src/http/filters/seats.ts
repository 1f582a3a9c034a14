import type { UserInfo } from '../../api/user';
import { isMaster, type MaxInFlight, type Seats } from '../../flowcontrol/max-in-flight';
import type { RequestContext } from '../request/context';
import { isLongRunning } from './deadline';
import { tooManyInFlight } from '../response/refusals';

/**
 * A request has a seat while the server works on it. While it waits for its client, who sends a body or reads a response, the
 * seat is for others: a client that takes its time takes nobody's place.
 */

/** How many of the seats a user has. */
export type TakenBy = (user: UserInfo, seats: Seats) => number;

/** Throws the 429 of a server that has as many requests under way as it may. Probes have seats, too, as on kube-apiserver. */
export function takeSeat(context: RequestContext, maxInFlight: MaxInFlight, takenBy: TakenBy): void {
  // A client that is gone already would never give its seat back.
  if (context.finished || isLongRunning(context)) return;
  const admittance = maxInFlight.admit(context.info.verb, context.user, takenBy);
  if (admittance === 'exempt') return;
  if (admittance === 'dropped') turnAway(context);
  context.seat = admittance;
}

export function leaveSeat(context: RequestContext): void {
  const { seat } = context;
  if (seat === undefined) return;
  seat.release();
  context.seat = undefined;
  context.seatLeft = seat;
}

/** Once the client has been waited for. Throws as {@link takeSeat}. */
export function returnToSeat(context: RequestContext): void {
  const { seatLeft: seat } = context;
  if (seat === undefined || context.finished) return;
  context.seatLeft = undefined;
  if (seat.take()) {
    context.seat = seat;
  } else if (!isMaster(context.user)) {
    seat.drop();
    turnAway(context);
  }
}

function turnAway(context: RequestContext): never {
  context.turnedAway = true;
  throw tooManyInFlight();
}
