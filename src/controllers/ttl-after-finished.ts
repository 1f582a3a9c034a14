import type { KubeObject } from '../api/object';
import { objectKey } from '../client/informer';
import { isStatus, startController, type Controller, type ControllerParts } from './controller';

interface JobSpec {
  readonly ttlSecondsAfterFinished?: number | null;
}

interface JobCondition {
  readonly type?: string;
  readonly status?: string;
  readonly lastTransitionTime?: string | null;
}

/** Of timers; what ends later is looked at once more on the way. */
const LONGEST_WAIT_MS = 60 * 60_000;

/** When a finished Job is to go, in milliseconds since the epoch; undefined when it is not. */
export function goesAt({ metadata, spec, status }: KubeObject): number | undefined {
  const { ttlSecondsAfterFinished: ttl } = (spec ?? {}) as JobSpec;
  if (ttl == null || metadata.deletionTimestamp) return undefined;
  const { conditions } = (status ?? {}) as { readonly conditions?: readonly JobCondition[] | null };
  const finished = conditions?.find(
    ({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True',
  );
  const time = Date.parse(finished?.lastTransitionTime ?? '');
  return Number.isNaN(time) ? undefined : time + ttl * 1000;
}

function pathOf(key: string): string {
  const [namespace = '', name = ''] = key.split('/');
  return `/apis/batch/v1/namespaces/${namespace}/jobs/${encodeURIComponent(name)}`;
}

/** Deletes Jobs, and what they own before them, `ttlSecondsAfterFinished` after their end. */
export function startTtlAfterFinished(parts: ControllerParts, now: () => number): Controller {
  return startController('ttl-after-finished', parts, ({ client, signal, queue, follow }) => {
    const times = new Map<string, number>();
    follow({
      path: '/apis/batch/v1/jobs',
      keep: ({ metadata: { namespace = '', name = '', resourceVersion = '' } }) => ({
        metadata: { namespace, name, resourceVersion },
      }),
      changed: (job) => {
        const at = goesAt(job);
        if (at === undefined) return void times.delete(objectKey(job));
        times.set(objectKey(job), at);
        queue.add(objectKey(job));
      },
      deleted: (job) => times.delete(objectKey(job)),
    });
    return async (key) => {
      const at = times.get(key);
      if (at === undefined) return;
      if (at > now()) return queue.addAfter(key, Math.min(at - now() + 1, LONGEST_WAIT_MS));
      try {
        // As it is now: its time may have been prolonged.
        const job = await client.get(pathOf(key), signal);
        if (!((goesAt(job) ?? Infinity) <= now())) return;
        const { uid, resourceVersion } = job.metadata;
        const preconditions = { uid, resourceVersion };
        await client.delete(pathOf(key), { preconditions, propagationPolicy: 'Foreground' }, signal);
      } catch (error) {
        if (!isStatus(error, 404)) throw error;
      }
    };
  });
}
