import { isMaster } from '../../flowcontrol/max-in-flight';
import type { RequestContext } from '../request/context';
import { isProbe } from './probes';
import { outOfRoom } from '../response/refusals';

/**
 * While memory is tight, connections get a 429 that hold more than a little of it and have taken nothing for a second. All others are served:
 * they are not why it is tight, and at the limit the one that holds most for longest is dropped.
 */
export function refuseUnderPressure(context: RequestContext): void {
  if (!context.isUnderPressure) return;
  const { info, user } = context;
  if (isMaster(user) || isProbe(info)) return;
  throw outOfRoom('requests');
}
