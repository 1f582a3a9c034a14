import { setTimeout as delay } from 'node:timers/promises';
import type { MaybePromise } from '../api/maybe-promise';
import { BackOff } from '../async/back-off';
import type { CacheEvent, ResourceCache } from '../storage/cache/cache';
import type { Revision } from '../storage/store';

/** Keeps something as the cache has one resource. */
export interface Follower {
  readonly resource: ResourceCache;
  /** Takes in all that there is now, and forgets what is gone. Returns the revision after which changes have not been seen. */
  readonly list: () => Promise<Revision>;
  /** Takes in one change. The next one waits for it. */
  readonly apply: (event: CacheEvent) => MaybePromise<void>;
  /** Told when every change has been taken in or is on its way, and when that is so no longer. */
  readonly following: (isFollowing: boolean) => void;
  /** Told what ended it; it begins anew with a list. */
  readonly interrupted: (error: unknown) => void;
}

const RETRIES = { first: 100, factor: 2, longest: 2_000 };

/** Lists, then follows, until the signal. Never rejects. */
export async function followResource(follower: Follower, signal: AbortSignal): Promise<void> {
  const retries = new BackOff(RETRIES);
  while (!signal.aborted) {
    try {
      const revision = await follower.list();
      if (signal.aborted) return;
      retries.reset();
      follower.following(true);
      for await (const { events } of follower.resource.watch(revision, signal)) {
        for (const event of events) await follower.apply(event);
      }
    } catch (error) {
      follower.interrupted(error);
    }
    // What is told to end has lost nothing: a server that is shut down is not ill.
    if (signal.aborted) return;
    follower.following(false);
    await delay(retries.next(), undefined, { signal }).catch(() => undefined);
  }
}
