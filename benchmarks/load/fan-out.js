const { encodeRequest, openClients, someAtATime } = require('./clients');
const { closedLoop, epochMs } = require('./closed-loop');
const { summarize } = require('../report/statistics');

const NEWLINE = 0x0a;
/** How long after the last write events may be on their way. */
const PATIENCE_MS = 30_000;

/**
 * Opens `watchers` watches of `target` with `watch` (a request), and runs the closed loop `writes` until every watcher has had an
 * event for each write; before that, `warmUpWrites` of them that do not count. Gives events a second from the first write to the
 * last event, and milliseconds from a write's sending to its event at one of the watchers: the written objects carry
 * `"sentAt":"{now}"`. `warmUpEvents` are there for those who count processor time.
 */
async function fanOut({ target, watch, watchers, warmUpWrites, writes }) {
  const open = await openWatches(target, watch, watchers);
  try {
    await writeAndWait(open, { ...writes, maxRequests: warmUpWrites });
    return { ...(await writeAndWait(open, writes)), warmUpEvents: warmUpWrites * watchers };
  } finally {
    for (const { client } of open) client.close();
  }
}

async function writeAndWait(open, writes) {
  const delays = [];
  const expected = writes.maxRequests * open.length;
  let received = 0;
  let finish;
  const all = new Promise((resolve) => (finish = resolve));
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

function noteDelay(line, delays) {
  const number = /"sentAt":"([\d.]+)"/.exec(line);
  if (number !== null) delays.push(Math.max(0, epochMs() - Number(number[1])));
}

/** `{n}` in the path stands for the watcher's number. */
async function openWatches(target, watch, count) {
  const numbered = (await openClients(target, count)).map((client, index) => ({ client, index }));
  return someAtATime(numbered, ({ client, index }) => {
    const path = watch.path.replaceAll('{n}', String(index));
    return openWatch(client, encodeRequest(target, { ...watch, path }));
  });
}

/** Resolves when the head of the answer is there, which says that the watch is on. */
async function openWatch(client, encoded) {
  const one = { client, onEvents: () => undefined, onLine: undefined };
  let text = '';
  const onBody = (piece) => {
    let events = 0;
    for (let at = piece.indexOf(NEWLINE); at >= 0; at = piece.indexOf(NEWLINE, at + 1)) events++;
    if (one.onLine !== undefined) {
      const lines = (text + piece.toString('utf8')).split('\n');
      text = lines.pop() ?? '';
      lines.forEach(one.onLine);
    }
    if (events > 0) one.onEvents(events);
  };
  const status = await new Promise((onHead, reject) => void client.send(encoded, { onHead, onBody }).catch(reject));
  if (status !== 200) throw new Error(`the watch answered ${status}`);
  return one;
}

function within(promise, ms, describe) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`timed out: ${describe()}`)), ms);
    promise.then(() => {
      clearTimeout(timer);
      resolve();
    }, reject);
  });
}

/** Opens watches and leaves them alone: what an idle watcher costs the server. The returned function closes them. */
async function idleWatches({ target, watch, watchers }) {
  const open = await openWatches(target, watch, watchers);
  return () => {
    for (const { client } of open) client.close();
  };
}

module.exports = { fanOut, idleWatches };
