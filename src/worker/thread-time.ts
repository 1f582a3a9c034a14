import { readFileSync, readlinkSync } from 'node:fs';

const NANOSECONDS_PER_MS = 1e6;

/** What the kernel calls the thread that asks: `123/task/456`; undefined where no such list is kept (other systems than Linux). */
export function ownTask(): string | undefined {
  try {
    return readlinkSync('/proc/thread-self');
  } catch {
    return undefined;
  }
}

/** How long a thread has had a processor since it began, in milliseconds; undefined where the system does not tell. */
export function processorTimeOf(task: string): number | undefined {
  try {
    const [nanoseconds = ''] = readFileSync(`/proc/${task}/schedstat`, 'latin1').split(' ', 1);
    return nanoseconds === '' ? undefined : Number(nanoseconds) / NANOSECONDS_PER_MS;
  } catch {
    return undefined;
  }
}
