/**
 * To be loaded into a server (`--require`): how much processor time its main thread takes between two timers that are 5 ms apart.
 * That is 5 ms more, at most, than the longest stretch for which the event loop was held, whatever else the machine is doing. SIGUSR2
 * appends the longest since the last signal, in milliseconds, to the file that LOOP_STRETCHES names. The system counts processor
 * time in steps of some milliseconds.
 */
import { appendFileSync, openSync, readSync } from 'node:fs';

const TICK_MS = 5;
const file = process.env['LOOP_STRETCHES'];

if (file !== undefined) {
  const statistics = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  const text = Buffer.alloc(64);
  const processorMs = () =>
    Number.parseInt(text.toString('latin1', 0, readSync(statistics, text, 0, text.length, 0)), 10) / 1e6;
  let last = processorMs();
  let longest = 0;
  setInterval(() => {
    const now = processorMs();
    longest = Math.max(longest, now - last);
    last = now;
  }, TICK_MS).unref();
  process.on('SIGUSR2', () => {
    appendFileSync(file, `${longest}\n`);
    longest = 0;
  });
}
