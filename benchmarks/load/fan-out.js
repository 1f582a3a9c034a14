const { Connection, requestBytes } = require('./connection');
const { closedLoop, epochMs } = require('./closed-loop');
const { summarize } = require('../report/statistics');

const NEWLINE = 0x0a;
/** How long after the last write events may be on their way. */
const PATIENCE_MS = 30_000;

/**
 * Opens `watchers` watches with `watch` (a request), runs the closed loop `writes`, and ends when every watcher has had
 * an event for each write. Gives events a second from the first write to the last event, and milliseconds from a write's
 * sending to its event at one of the watchers: the written objects carry `"sentAt":"{now}"`.
 */
async function fanOut({ target, watch, watchers, writes }) {
  const open = await openWatches(target, watch, watchers);
  try {
    const delays = [];
    const expected = writes.maxRequests * watchers;
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
    const written = await closedLoop({ ...writes, target });
    await within(all, PATIENCE_MS, () => `${received} of ${expected} events arrived`);
    const seconds = (performance.now() - started) / 1000;
    return {
      perSecond: received / seconds,
      writesPerSecond: written.perSecond,
      events: received,
      ...summarize(delays),
    };
  } finally {
    for (const one of open) one.connection.close();
  }
}

function noteDelay(line, delays) {
  const number = /"sentAt":"([\d.]+)"/.exec(line);
  if (number !== null) delays.push(Math.max(0, epochMs() - Number(number[1])));
}

/** Opened some at a time: the first bytes of the answer say that the watch is on. */
async function openWatches(target, watch, count) {
  const open = [];
  const bytes = requestBytes(target, watch);
  for (let start = 0; start < count; start += 50) {
    const some = Math.min(50, count - start);
    open.push(...(await Promise.all(Array.from({ length: some }, () => openWatch(target, bytes)))));
  }
  return open;
}

async function openWatch(target, bytes) {
  const connection = await Connection.open(target);
  const one = { connection, onEvents: () => undefined, onLine: undefined };
  const headed = new Promise((resolve) => connection.socket.once('data', resolve));
  let text = '';
  connection
    .send(bytes, (piece) => {
      let events = 0;
      for (let at = piece.indexOf(NEWLINE); at >= 0; at = piece.indexOf(NEWLINE, at + 1)) events++;
      if (one.onLine !== undefined) {
        const lines = (text + piece.toString('utf8')).split('\n');
        text = lines.pop() ?? '';
        lines.forEach(one.onLine);
      }
      if (events > 0) one.onEvents(events);
    })
    .catch(() => undefined);
  await headed;
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
    for (const { connection } of open) connection.close();
  };
}

module.exports = { fanOut, idleWatches };
