import { checkHistory } from './check-history';
import {
  appliedField,
  type GetCall,
  type History,
  type ListCall,
  type TruthEvent,
  type WatchItem,
  type WatchSession,
  type WriteCall,
} from './history';
import { seededRandom, simulateRun, type Random } from './simulated-run';

const SEEDS = Array.from({ length: 40 }, (_, seed) => seed);
const STEPS = 120;

type Doctor = (history: History, random: Random) => History;

const pick = <T>(list: readonly T[], random: Random): T => {
  if (list.length === 0) throw new Error('the history has nothing to doctor');
  return list[Math.floor(random() * list.length)] as T;
};

/** Another version of one call. */
function withCall<T extends History['calls'][number]>(history: History, call: T, changed: T): History {
  return { ...history, calls: history.calls.map((one) => (one === call ? changed : one)) };
}

/** Other items in the unfiltered watch; the stream and the place of a change in it are given. */
function withItems(history: History, random: Random, change: (items: WatchItem[], at: number) => void): History {
  const [session] = history.sessions as [WatchSession];
  const places = session.streams.flatMap(({ items }, stream) =>
    items.flatMap((item, at) => (item.type === 'BOOKMARK' || at + 1 >= items.length ? [] : [{ stream, at }])),
  );
  const place = pick(places, random);
  const streams = session.streams.map((stream, i) => {
    if (i !== place.stream) return stream;
    const items = [...stream.items];
    change(items, place.at);
    return { ...stream, items };
  });
  return { ...history, sessions: [{ ...session, streams }, ...history.sessions.slice(1)] };
}

const writes = ({ calls }: History): WriteCall[] => calls.filter((call) => call.kind === 'write');
const done = (history: History): WriteCall[] =>
  writes(history).filter(({ outcome, verb }) => outcome.type === 'done' && verb !== 'delete');
const founds = ({ calls }: History): GetCall[] =>
  calls.filter((call): call is GetCall => call.kind === 'get' && call.found !== undefined);
const lists = ({ calls }: History): ListCall[] => calls.filter((call): call is ListCall => call.kind === 'list');

const doctors: Readonly<Record<string, Doctor>> = {
  'an acknowledged write is lost': (history, random) => {
    const write = pick(done(history), random);
    const revision = write.outcome.type === 'done' ? write.outcome.revision : 0;
    return {
      ...history,
      truth: history.truth.filter((event) => event.revision !== revision),
      sessions: [],
      calls: [write],
    };
  },
  'a write happens that nobody sent': (history, random) => {
    const write = pick(done(history), random);
    return { ...history, calls: history.calls.filter((call) => call !== write) };
  },
  'a refused write happens': (history, random) => {
    const write = pick(done(history), random);
    return withCall(history, write, { ...write, outcome: { type: 'refused', reason: 'conflict' } });
  },
  'a write happens twice': (history) => {
    const last = history.truth.filter(({ type }) => type === 'put').at(-1)!;
    const revision = history.truth.at(-1)!.revision + 1;
    return { ...history, sessions: [], truth: [...history.truth, { ...last, revision }] };
  },
  'an update replaces another version than it insisted on': (history, random) => {
    const update = pick(
      done(history).filter(({ base }) => base !== undefined),
      random,
    );
    return withCall(history, update, { ...update, base: (update.base ?? 0) - 1 });
  },
  'a patch loses the fields of others': (history, random) => {
    const patch = pick(
      done(history).filter(({ verb }) => verb === 'patch'),
      random,
    );
    const revision = patch.outcome.type === 'done' ? patch.outcome.revision : 0;
    return {
      ...history,
      sessions: [],
      truth: history.truth.map((event) => (event.revision === revision ? { ...event, fields: patch.fields } : event)),
    };
  },
  'an apply leaves behind what it gives up': (history, random) => {
    const before = ({ key, outcome }: WriteCall): TruthEvent | undefined => {
      const at = (outcome.type === 'done' ? outcome.revision : undefined) ?? 0;
      const replaced = history.truth.filter((event) => event.key === key && event.revision < at).at(-1);
      return replaced?.type === 'put' ? replaced : undefined;
    };
    const apply = pick(
      done(history).filter((write) => {
        const own = appliedField(write.client);
        return write.verb === 'apply' && write.fields[own] === undefined && before(write)?.fields[own] !== undefined;
      }),
      random,
    );
    if (apply.outcome.type !== 'done') throw new Error('not done');
    const { outcome } = apply;
    const fields = { ...outcome.fields, [appliedField(apply.client)]: 'here' };
    const changed = withCall(history, apply, { ...apply, outcome: { ...outcome, fields } });
    return {
      ...changed,
      calls: writes(changed),
      sessions: [],
      truth: history.truth.map((event) => (event.revision === outcome.revision ? { ...event, fields } : event)),
    };
  },
  'a write is acknowledged with another version': (history, random) => {
    const write = pick(done(history), random);
    if (write.outcome.type !== 'done') throw new Error('not done');
    const outcome = { ...write.outcome, revision: (write.outcome.revision ?? 0) + 1 };
    return withCall(history, write, { ...write, outcome });
  },
  'a conflict has no reason': (history) => {
    const { key, revision } = history.truth.filter(({ type }) => type === 'put').at(-1)!;
    const call: WriteCall = {
      kind: 'write',
      client: 'unlucky',
      verb: 'update',
      key,
      base: revision,
      fields: {},
      calledAt: 1e6,
      returnedAt: 1e6 + 1,
      outcome: { type: 'refused', reason: 'conflict' },
    };
    const later = history.truth.some((event) => event.key === key && event.revision > revision);
    if (later) throw new Error('the history has nothing to doctor');
    return { ...history, calls: [...history.calls, call] };
  },
  'writes take effect before they are sent': (history, random) => {
    const write = pick(done(history), random);
    return withCall(history, write, { ...write, calledAt: 1e6, returnedAt: 1e6 + 1 });
  },
  'a read is stale': (history, random) => {
    const replaced = founds(history).filter(({ key, found }) =>
      history.calls.some(
        (call) =>
          call.kind === 'write' &&
          call.key === key &&
          call.outcome.type === 'done' &&
          (call.outcome.revision ?? 0) > found!.revision,
      ),
    );
    const read = pick(replaced, random);
    return withCall(history, read, { ...read, calledAt: 1e6, returnedAt: 1e6 + 1 });
  },
  'a read sees the future': (history, random) => {
    const read = pick(
      founds(history).filter(({ found }) =>
        done(history).some(
          ({ outcome, calledAt }) => outcome.type === 'done' && outcome.revision === found?.revision && calledAt > 0,
        ),
      ),
      random,
    );
    return withCall(history, read, { ...read, calledAt: -1e6, returnedAt: -1e6 + 1 });
  },
  'a read gives a version that never was': (history, random) => {
    const read = pick(founds(history), random);
    return withCall(history, read, { ...read, found: { ...read.found!, fields: { made: 'up' } } });
  },
  'a read finds nothing where something stands': (history) => {
    const { key } = history.truth.filter(({ type }) => type === 'put').at(-1)!;
    if (history.truth.filter((event) => event.key === key).at(-1)?.type === 'delete') {
      throw new Error('the history has nothing to doctor');
    }
    const read = { kind: 'get', client: 'blind', key, freshness: { type: 'newest' }, found: undefined } as const;
    const calls = [...history.calls, { ...read, calledAt: 1e6, returnedAt: 1e6 + 1 }];
    // Without an answer, the creation may still be on its way.
    return {
      ...history,
      calls: calls.map((call) =>
        call.kind === 'write' ? { ...call, returnedAt: Math.min(call.returnedAt, 9e5) } : call,
      ),
    };
  },
  'a list leaves something out': (history, random) => {
    const list = pick(
      lists(history).filter(({ items }) => items.size > 0),
      random,
    );
    return withCall(history, list, { ...list, items: new Map([...list.items].slice(1)) });
  },
  'a list mixes revisions': (history, random) => {
    const list = pick(
      lists(history).filter(({ items }) =>
        [...items].some(([key, { revision }]) =>
          history.truth.some((event) => event.key === key && event.type === 'put' && event.revision < revision),
        ),
      ),
      random,
    );
    const items = new Map(
      [...list.items].map(([key, version]) => [
        key,
        history.truth
          .filter((event) => event.key === key && event.type === 'put' && event.revision < version.revision)
          .at(-1) ?? version,
      ]),
    );
    return withCall(history, list, { ...list, items });
  },
  'a list is stale': (history, random) => {
    const before = lists(history).filter(({ revision }) =>
      done(history).some(({ outcome }) => outcome.type === 'done' && (outcome.revision ?? 0) > revision),
    );
    const list = pick(before, random);
    return withCall(history, list, { ...list, calledAt: 1e6, returnedAt: 1e6 + 1 });
  },
  'time travels: a reader gets what is older than it has seen': (history, random) => {
    const list = pick(lists(history), random);
    return withCall(history, list, { ...list, freshness: { type: 'not older than', revision: list.revision + 1 } });
  },
  'a watch drops an event': (history, random) => withItems(history, random, (items, at) => void items.splice(at, 1)),
  'a watch doubles an event': (history, random) =>
    withItems(history, random, (items, at) => void items.splice(at, 0, items[at]!)),
  'a watch swaps two events': (history, random) =>
    withItems(history, random, (items, at) => void items.splice(at, 2, items[at + 1]!, items[at]!)),
  'a watch gives an event as another type': (history, random) =>
    withItems(history, random, (items, at) => {
      const item = items[at]!;
      if (item.type !== 'BOOKMARK') items[at] = { ...item, type: item.type === 'DELETED' ? 'MODIFIED' : 'DELETED' };
    }),
  'a watch gives an event with another object': (history, random) =>
    withItems(history, random, (items, at) => {
      const item = items[at]!;
      if (item.type !== 'BOOKMARK') items[at] = { ...item, fields: { made: 'up' } };
    }),
  'a bookmark runs ahead of an event': (history, random) =>
    withItems(history, random, (items, at) => {
      const { revision, at: time } = items[at]!;
      items.splice(at, 0, { type: 'BOOKMARK', revision, endsInitial: false, at: time });
    }),
  'a bookmark goes back': (history, random) =>
    withItems(history, random, (items, at) => {
      const { revision, at: time } = items[at]!;
      items.splice(at + 1, 0, { type: 'BOOKMARK', revision: revision - 1, endsInitial: false, at: time });
    }),
  'a watch tells of an event before anybody caused it': (history, random) =>
    withItems(history, random, (items, at) => void (items[at] = { ...items[at]!, at: -1e6 })),
  'a resumed watch begins too late': (history) => {
    const [session, ...others] = history.sessions as [WatchSession];
    const place = session.streams.findIndex(
      ({ items }, i) => i > 0 && items.length > 1 && items[0]?.type !== 'BOOKMARK',
    );
    if (place < 0) throw new Error('the history has nothing to doctor');
    const streams = session.streams.map((stream, i) =>
      i === place ? { ...stream, items: stream.items.slice(1) } : stream,
    );
    return { ...history, sessions: [{ ...session, streams }, ...others] };
  },
  'a watch never tells of the end': (history) => {
    const [session, ...others] = history.sessions as [WatchSession];
    const last = session.streams.findLastIndex(({ items }) => items.length > 0);
    const streams = session.streams.map((stream, i) =>
      i === last ? { ...stream, items: stream.items.slice(0, -1) } : stream,
    );
    if (history.truth.at(-1)?.revision !== session.through) throw new Error('the history has nothing to doctor');
    return { ...history, sessions: [{ ...session, streams: streams.slice(0, last + 1) }, ...others] };
  },
  'a watch does not begin with what stands there': (history) => {
    const [session] = history.sessions as [WatchSession];
    const at = history.truth.filter(({ type }) => type === 'put').at(-1)!.revision;
    const items: readonly WatchItem[] = [{ type: 'BOOKMARK', revision: at, endsInitial: true, at: 1e6 }];
    return { ...history, sessions: [{ ...session, streams: [{ after: 'state', items }] }] };
  },
};

describe('the history checker', () => {
  it('has nothing to say against a server without faults', () => {
    for (const seed of SEEDS) expect(checkHistory(simulateRun(seededRandom(seed), STEPS))).toEqual([]);
  });

  it.each(Object.entries(doctors))('notices that %s', (_, doctor) => {
    let doctored = 0;
    for (const seed of SEEDS) {
      const random = seededRandom(seed);
      let history: History;
      try {
        history = doctor(simulateRun(random, STEPS), random);
      } catch {
        // Nothing in this run can be doctored so.
        continue;
      }
      doctored++;
      if (checkHistory(history).length === 0) throw new Error(`the history of seed ${seed} was accepted`);
    }
    expect(doctored).toBeGreaterThan(SEEDS.length / 4);
  });
});
