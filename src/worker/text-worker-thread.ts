import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { runTextJob } from './run-text-job';
import type { TextJob } from './text-jobs';

/** What runs in the worker thread; scripts/generate.js makes one file of it and what it imports. */

// On Linux this is about the thread that asks for it: the event loop goes first where processors are short.
if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);

parentPort?.on('message', (job: TextJob) => {
  const answer = runTextJob(job);
  const { bytes } = answer;
  const transferred = bytes?.buffer instanceof ArrayBuffer ? [bytes.buffer] : [];
  parentPort?.postMessage(answer, transferred);
});
