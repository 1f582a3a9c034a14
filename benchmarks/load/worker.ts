/**
 * The process that makes the load, apart from the servers and from the harness. Takes `{ id, kind, job }`, sends
 * `{ id, result }` or `{ id, error }`.
 */
import { closedLoop, once } from './closed-loop';
import { fanOut, idleWatches } from './fan-out';
import type { LoadKinds } from './job';

let closeIdle = (): void => undefined;

const kinds: LoadKinds = {
  closedLoop,
  once,
  fanOut,
  openIdleWatches: async (job) => {
    closeIdle = await idleWatches(job);
  },
  closeIdleWatches: async () => closeIdle(),
};

interface Order {
  readonly id: number;
  readonly kind: keyof LoadKinds;
  readonly job: unknown;
}

process.on('message', ({ id, kind, job }: Order) => {
  const work = kinds[kind] as (job: unknown) => Promise<unknown>;
  work(job).then(
    (result) => process.send?.({ id, result }),
    (error: Error) => process.send?.({ id, error: error.message }),
  );
});
process.on('disconnect', () => process.exit());
