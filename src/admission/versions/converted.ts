import { ConversionNeeded, withConversions } from '../../api/conversion-needed';
import { internalError, StatusError } from '../../api/errors/status-error';
import type { MaybePromise } from '../../api/maybe-promise';

/**
 * What needs objects in the versions of webhooks: at once, as with all kinds of the server's own; where a webhook converts, when that has
 * answered. Rejects with an internal error when it has failed.
 */
export function converted<T>(work: () => MaybePromise<T>): MaybePromise<T> {
  try {
    const done = work();
    return done instanceof Promise ? done.catch((error: unknown) => afterwards(error, work)) : done;
  } catch (error) {
    return afterwards(error, work);
  }
}

async function afterwards<T>(error: unknown, work: () => MaybePromise<T>): Promise<T> {
  if (!(error instanceof ConversionNeeded)) throw error;
  try {
    return await withConversions(work);
  } catch (failure) {
    if (failure instanceof StatusError && failure.status.reason === undefined) throw internalError(failure.message);
    throw failure;
  }
}
