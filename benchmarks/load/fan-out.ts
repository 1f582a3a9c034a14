import { encodeRequest, openClients, someAtATime } from './clients';
import { closedLoop, epochMs } from './closed-loop';
import type { FanOutJob, FanOutResult, LoadRequest, Target, WatchJob } from './job';
import type { LoadConnection } from './load-connection';
import { summarize } from '../report/statistics';

const NEWLINE = 0x0a;
/** How long after the last write events may be on their way. */
const PATIENCE_MS = 30_000;

interface Watcher {
  readonly client: LoadConnection;
  onEvents: (count: number) => void;
  onLine: ((line: string) => void) | undefined;
}

/**
 * Opens `watchers` watches of `target` with `watch` (a request), and runs the closed loop `writes` until every watcher has had an
 * event for each write; before that, `warmUpWrites` of them that do not count. Gives events a second from the first write to the
 * last event, and milliseconds from a write's sending to its event at one of the watchers: the written objects carry
 * `"sentAt":"{now}"`. `warmUpEvents` are there for those who count processor time.
 */
export async function fanOut({ target, watch, watchers, warmUpWrites, writes }: FanOutJob): Promise<FanOutResult> {
  const open = await openWatches(target, watch, watchers);
  try {
    await writeAndWait(open, { ...writes, maxRequests: warmUpWrites });
    return { ...(await writeAndWait(open, writes)), warmUpEvents: warmUpWrites * watchers };
  } finally {
    for (const { client } of open) client.close();
  }
}

async function writeAndWait(
  open: readonly Watcher[],
  writes: FanOutJob['writes'],
): Promise<Omit<FanOutResult, 'warmUpEvents'>> {
  const delays: number[] = [];
  const expected = writes.maxRequests * open.length;
  let received = 0;
  let finish = (): void => undefined;
  const all = new Promise<void>((resolve) => (finish = resolve));
  open.forEach((one, index) => {
    one.onEvents = (count) => {
      received += count;
      if (received >= expected) finish();
    };
    if (index === 0) one.onLine = (line) => noteDelay(line, delays);
  });
  const started = performance.now();
  const written = await closedLoop(writes);
  await within(all, PATIENCE_MS, () => `${received} of ${expected} events arrived`);
  const seconds = (performance.now() - started) / 1000;
  return {
    perSecond: received / seconds,
    writesPerSecond: written.perSecond,
    events: received,
    ...summarize(delays),
  };
}

function noteDelay(line: string, delays: number[]): void {
  const number = /"sentAt":"([\d.]+)"/.exec(line);
  if (number !== null) delays.push(Math.max(0, epochMs() - Number(number[1])));
}

/** `{n}` in the path stands for the watcher's number. */
async function openWatches(target: Target, watch: LoadRequest, count: number): Promise<readonly Watcher[]> {
  const numbered = (await openClients(target, count)).map((client, index) => ({ client, index }));
  return someAtATime(numbered, ({ client, index }) => {
    const path = watch.path.replaceAll('{n}', String(index));
    return openWatch(client, encodeRequest(target, { ...watch, path }));
  });
}

/** Resolves when the head of the response is there, which says that the watch is on. */
async function openWatch(client: LoadConnection, encoded: Buffer): Promise<Watcher> {
  const one: Watcher = { client, onEvents: () => undefined, onLine: undefined };
  let text = '';
  const onBody = (piece: Buffer) => {
    let events = 0;
    for (let at = piece.indexOf(NEWLINE); at >= 0; at = piece.indexOf(NEWLINE, at + 1)) events++;
    if (one.onLine !== undefined) {
      const lines = (text + piece.toString('utf8')).split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) one.onLine(line);
    }
    if (events > 0) one.onEvents(events);
  };
  const status = await new Promise<number>(
    (onHead, reject) => void client.send(encoded, { onHead, onBody }).catch(reject),
  );
  if (status !== 200) throw new Error(`the watch has status ${status}`);
  return one;
}

function within(promise: Promise<void>, ms: number, describe: () => string): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`timed out: ${describe()}`)), ms);
    promise.then(() => {
      clearTimeout(timer);
      resolve();
    }, reject);
  });
}

/** Opens watches and leaves them alone: what an idle watcher costs the server. The returned function closes them. */
export async function idleWatches({ target, watch, watchers }: WatchJob): Promise<() => void> {
  const open = await openWatches(target, watch, watchers);
  return () => {
    for (const { client } of open) client.close();
  };
}
