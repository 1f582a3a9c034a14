import { setTimeout as delay } from 'node:timers/promises';
import { appliedField, TOKEN_FIELD, type Version } from '../../history/history';
import type { Random } from '../../history/simulated-run';
import type { Recorder } from './recorder';

const KEYS = ['a', 'b', 'c', 'd'];
const PAUSE_AFTER_FAILURE_MS = 20;

export interface TrafficOptions {
  readonly random: Random;
  readonly signal: AbortSignal;
  /** At most this many calls a second. */
  readonly callsPerSecond: number;
}

/**
 * One client at work on few keys, so that it meets others: it creates, updates what it read last, applies, patches, deletes
 * and reads, newest state and "not older than what I know", until the signal aborts.
 */
export async function runTraffic(client: Recorder, { random, signal, callsPerSecond }: TrafficOptions): Promise<void> {
  const known = new Map<string, Version>();
  let newest = 1;
  for (let step = 0; !signal.aborted; step++) {
    const key = KEYS[Math.floor(random() * KEYS.length)]!;
    const token = `${client.name}-${step}`;
    const parity = random() < 0.5 ? 'even' : 'odd';
    // An updater from whom applies have taken all items of a map owns the map itself, and structured-merge-diff then takes
    // it for the owner of whatever is in there. So it keeps one item that nobody applies.
    const whole = { [TOKEN_FIELD]: token, parity, by: client.name };
    const base = known.get(key);
    const chance = random();
    try {
      let seen: Version | undefined;
      if (base === undefined && chance < 0.35) seen = await client.create(key, whole);
      else if (base !== undefined && chance < 0.25) {
        seen = await client.update(key, base.revision, whole);
      } else if (chance < 0.45) {
        const own = step % 2 === 0 ? { [appliedField(client.name)]: String(step) } : {};
        seen = await client.apply(key, { [TOKEN_FIELD]: token, ...own });
      } else if (chance < 0.55) seen = await client.patch(key, { [TOKEN_FIELD]: token, [client.name]: String(step) });
      else if (base !== undefined && chance < 0.6) await client.delete(key, base.revision);
      else if (base !== undefined && chance < 0.62) await client.delete(key);
      else if (chance < 0.75) seen = await client.get(key);
      else if (chance < 0.85) seen = await client.get(key, { type: 'not older than', revision: newest });
      else if (chance < 0.9) await client.get(key, { type: 'any' });
      else if (chance < 0.95) {
        const { items, revision } = await client.list();
        seen = items.get(key);
        newest = Math.max(newest, revision);
      } else
        await client.list({ type: 'not older than', revision: newest }, { filter: { field: 'parity', value: 'even' } });
      if (seen === undefined) known.delete(key);
      else {
        known.set(key, seen);
        newest = Math.max(newest, seen.revision);
      }
    } catch {
      // A read that nobody answered proves nothing.
      known.delete(key);
      await delay(PAUSE_AFTER_FAILURE_MS);
    }
    await delay((1000 / callsPerSecond) * 2 * random());
  }
}
