import type {
  Fields,
  GetCall,
  History,
  ListCall,
  TruthEvent,
  Version,
  WatchItem,
  WatchSession,
  WriteCall,
} from './history';
import { appliedField, TOKEN_FIELD } from './history';

/** Numbers from 0 to below 1. */
export type Random = () => number;

/** The same numbers for the same seed (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const KEYS = ['a', 'b', 'c'];
const FILTER = { field: 'parity', value: 'even' };

/**
 * What clients would have seen of a server without faults: calls overlap, some answers are lost, watches break and resume.
 * Every call happens at one moment between its call and its return.
 */
export function simulateRun(random: Random, steps: number): History {
  const truth: TruthEvent[] = [];
  const calls: (WriteCall | GetCall | ListCall)[] = [];
  const state = new Map<string, Version>();
  let revision = 10;
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;

  for (let step = 0; step < steps; step++) {
    const at = 10 * step;
    const call = {
      client: `client-${Math.floor(random() * 3)}`,
      key: pick(KEYS),
      calledAt: at - 40 * random(),
      returnedAt: at + 40 * random(),
    };
    const stands = state.get(call.key);
    if (random() < 0.4) {
      calls.push(
        random() < 0.5
          ? { ...call, kind: 'get', freshness: { type: 'newest' }, found: stands }
          : { ...call, key: '', kind: 'list', freshness: { type: 'newest' }, revision, items: new Map(state) },
      );
      continue;
    }
    const token = `token-${step}`;
    const lost = random() < 0.1;
    const write = { ...call, kind: 'write', ...(lost ? { returnedAt: Infinity } : {}) } as const;
    const put = (verb: 'create' | 'update' | 'patch' | 'apply', sent: Fields, fields: Fields, base?: number): void => {
      revision += 1 + Math.floor(random() * 2);
      const uid = stands?.uid ?? `uid-${step}`;
      state.set(call.key, { revision, uid, fields });
      truth.push({ type: 'put', key: call.key, revision, uid, fields });
      const outcome = lost ? ({ type: 'unknown' } as const) : ({ type: 'done', revision, uid, fields } as const);
      calls.push({ ...write, verb, fields: sent, outcome, ...(base === undefined ? {} : { base }) });
    };
    const parity = random() < 0.5 ? 'even' : 'odd';
    const chance = random();
    if (stands === undefined) {
      const fields = { [TOKEN_FIELD]: token, parity };
      if (chance < 0.6) put('create', fields, fields);
      else if (chance < 0.8) put('apply', fields, fields);
      else
        calls.push({ ...call, kind: 'write', verb: 'patch', fields, outcome: { type: 'refused', reason: 'missing' } });
    } else if (chance < 0.3) {
      const fields = { [TOKEN_FIELD]: token, parity };
      put('update', fields, fields, stands.revision);
    } else if (chance < 0.45) {
      const sent = { [TOKEN_FIELD]: token, [call.client]: String(step) };
      put('patch', sent, { ...stands.fields, ...sent });
    } else if (chance < 0.7) {
      const { [appliedField(call.client)]: _, ...others } = stands.fields;
      const sent = { [TOKEN_FIELD]: token, ...(random() < 0.5 ? { [appliedField(call.client)]: 'here' } : {}) };
      put('apply', sent, { ...others, ...sent });
    } else if (chance < 0.8) {
      const fields = { [TOKEN_FIELD]: token };
      calls.push({ ...call, kind: 'write', verb: 'create', fields, outcome: { type: 'refused', reason: 'exists' } });
    } else if (chance < 0.9) {
      const old = truth.filter((event) => event.key === call.key && event.revision < stands.revision).at(-1);
      if (old === undefined) continue;
      const fields = { [TOKEN_FIELD]: token };
      calls.push({
        ...call,
        kind: 'write',
        verb: 'update',
        base: old.revision,
        fields,
        outcome: { type: 'refused', reason: 'conflict' },
      });
    } else {
      revision += 1;
      state.delete(call.key);
      truth.push({ type: 'delete', key: call.key, revision, uid: stands.uid, fields: stands.fields });
      const outcome = lost
        ? ({ type: 'unknown' } as const)
        : ({ type: 'done', uid: stands.uid, fields: stands.fields } as const);
      calls.push({ ...write, verb: 'delete', fields: {}, base: stands.revision, outcome });
    }
  }
  const end = 10 * steps + 1000;
  return {
    truth,
    calls,
    sessions: [
      watchSession('all', truth, revision, end, random),
      watchSession('even', truth, revision, end, random, FILTER),
    ],
  };
}

function watchSession(
  client: string,
  truth: readonly TruthEvent[],
  through: number,
  at: number,
  random: Random,
  filter?: typeof FILTER,
): WatchSession {
  const matches = (fields: Fields | undefined): boolean =>
    fields !== undefined && (filter === undefined || fields[filter.field] === filter.value);
  const standing = new Map<string, Version>();
  const streams: { after: number | 'state'; items: WatchItem[] }[] = [
    { after: 'state', items: [{ type: 'BOOKMARK', revision: 10, endsInitial: true, at }] },
  ];
  let last = 10;
  for (const event of truth) {
    const { key, revision, uid } = event;
    const before = standing.get(key)?.fields;
    const now = event.type === 'put' ? event.fields : undefined;
    if (event.type === 'put') standing.set(key, event);
    else standing.delete(key);
    if (random() < 0.1) streams.push({ after: last, items: [] });
    const items = streams.at(-1)?.items ?? [];
    const seen = { key, revision, uid, at };
    if (now !== undefined && matches(now))
      items.push({ ...seen, type: matches(before) ? 'MODIFIED' : 'ADDED', fields: now });
    else if (before !== undefined && matches(before)) items.push({ ...seen, type: 'DELETED', fields: before });
    else if (random() < 0.5) items.push({ type: 'BOOKMARK', revision, endsInitial: false, at });
    else continue;
    last = revision;
  }
  return { client, streams, through, ...(filter === undefined ? {} : { filter }) };
}
