import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { runTextJob } from './run-text-job';
import type { TextJob, ThreadMessage } from './text-jobs';
import { ownTask } from './thread-time';

/** What runs in the worker thread; scripts/generate.ts makes one file of it and what it imports. */

/** About half of what the event loop gets where processors are short; less would keep readers of YAML waiting on a busy machine. */
const NICENESS = 3;

// On Linux this is about the thread that asks for it.
if (process.platform === 'linux') setPriority(0, NICENESS);

const task = ownTask();
const started: ThreadMessage = { kind: 'started', ...(task === undefined ? {} : { task }) };
parentPort?.postMessage(started);

parentPort?.on('message', (job: TextJob) => {
  const response = runTextJob(job);
  const { bytes } = response;
  const transferred = bytes?.buffer instanceof ArrayBuffer ? [bytes.buffer] : [];
  const done: ThreadMessage = { kind: 'done', response: response };
  parentPort?.postMessage(done, transferred);
});
