import type { CacheEvent, ResourceCache } from '../storage/cache/cache';
import type { Revision } from '../storage/store';
import { followResource, type Follower } from './follow-resource';

/** Watches that give what they are told, each once, and then end as they are told. */
function watching(...watches: readonly (() => AsyncIterable<{ readonly events: readonly CacheEvent[] }>)[]) {
  const asked: number[] = [];
  let next = 0;
  const resource = {
    watch: (after: number) => {
      asked.push(after);
      return watches[next++]!();
    },
  } as unknown as ResourceCache;
  return { asked, resource };
}

const event = (name: string): CacheEvent => ({ type: 'put', entry: { name } }) as CacheEvent;

async function* giving(...names: string[]) {
  yield await Promise.resolve({ events: names.map(event) });
}

// eslint-disable-next-line require-yield
async function* failing(): AsyncGenerator<never> {
  await Promise.resolve();
  throw new Error('too slow');
}

function record(stop: AbortController, resource: ResourceCache, given: Partial<Follower>) {
  const seen: string[] = [];
  const follower: Follower = {
    resource,
    list: () => {
      seen.push('list');
      return Promise.resolve(7 as Revision);
    },
    apply: ({ entry }) => void seen.push(entry.name),
    following: (isFollowing) => void seen.push(isFollowing ? 'following' : 'not following'),
    interrupted: (error) => void seen.push((error as Error).message),
    ...given,
  };
  return { seen, done: followResource(follower, stop.signal) };
}

describe('following a resource', () => {
  it('lists again when the watch fails, and says that it does not follow meanwhile, but not when it is told to end', async () => {
    const stop = new AbortController();
    const last = async function* () {
      yield* giving('b');
      stop.abort();
    };
    const { asked, resource } = watching(() => giving('a'), failing, last);
    const { seen, done } = record(stop, resource, {});
    await done;
    const round = (...events: string[]) => ['list', 'following', ...events];
    const lost = 'not following';
    expect(seen).toEqual([...round('a'), lost, ...round('too slow'), lost, ...round('b')]);
    expect(asked).toEqual([7, 7, 7]);
  });

  it('lists again when a list fails, without following before one has come to its end', async () => {
    const stop = new AbortController();
    let tries = 0;
    const { seen, done } = record(stop, watching(() => giving('a')).resource, {
      list: () => {
        tries++;
        return tries < 3 ? Promise.reject(new Error('unreadable')) : Promise.resolve(1 as Revision);
      },
      apply: ({ entry }) => {
        seen.push(entry.name);
        stop.abort();
      },
    });
    await done;
    const refused = ['unreadable', 'not following'];
    expect(seen).toEqual([...refused, ...refused, 'following', 'a']);
  });

  it('takes in one change after the other', async () => {
    const stop = new AbortController();
    const { seen, done } = record(stop, watching(() => giving('slow', 'fast')).resource, {
      apply: async ({ entry }) => {
        if (entry.name === 'slow') await new Promise((resolve) => setImmediate(resolve));
        seen.push(entry.name);
        if (entry.name === 'fast') stop.abort();
      },
    });
    await done;
    expect(seen).toEqual(['list', 'following', 'slow', 'fast']);
  });
});
