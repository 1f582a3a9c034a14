// Puts a bug, named by an environment variable, into a server: `node --require sabotage.js dist/cli/main.js apiserver ...`.
// The tests want to see that they notice each; or, where it is a crash, that it does no harm.
const { dirname, join } = require('node:path');

const built = (path) => require(join(dirname(process.argv[1]), '..', path));
const every = (count, act) => {
  let calls = 0;
  return (...them) => act(++calls % count === 0, ...them);
};

/** Calls what was there before with a function that calls the original. */
function replace(prototype, method, make) {
  const original = prototype[method];
  const replacement = make((self, ...them) => original.apply(self, them));
  prototype[method] = function (...them) {
    return replacement(this, ...them);
  };
}

const etcdStore = () => built('storage/etcd/etcd-store.js').EtcdStore.prototype;
const eventFeed = () => built('storage/cache/event-feed.js').EventFeed.prototype;
const RUN = '/registry/configmaps/bug-';
const isOfRun = ({ events }) => events.some(({ entry }) => entry.key.startsWith(RUN));

const bugs = {
  'its watches drop an event now and then': () => {
    replace(eventFeed(), 'publish', (original) =>
      every(5, (now, self, batch, at) =>
        now && isOfRun(batch) ? { batch, eventsBefore: 0, bytes: 0, atMs: at } : original(self, batch, at),
      ),
    );
  },
  'its watches give an event twice now and then': () => {
    replace(eventFeed(), 'publish', (original) =>
      every(5, (now, self, batch, at) =>
        original(self, now && isOfRun(batch) ? { ...batch, events: [...batch.events, ...batch.events] } : batch, at),
      ),
    );
  },
  'its bookmarks run ahead of events': () => {
    const { LogWatch } = built('storage/cache/log-watch.js');
    const { get } = Object.getOwnPropertyDescriptor(LogWatch.prototype, 'progress');
    Object.defineProperty(LogWatch.prototype, 'progress', {
      get() {
        return get.call(this) + 3;
      },
    });
  },
  'it takes what it remembers for the newest state': () => {
    replace(built('storage/cache/revision-read-batcher.js').RevisionReadBatcher.prototype, 'get', () => async () => 0);
  },
  'it takes what it loads at its start for a newer state': () => {
    replace(etcdStore(), 'list', (original) => async (self, range, signal) => {
      const page = await original(self, range, signal);
      return page.ok && range.revision === undefined ? { ...page, revision: page.revision + 5 } : page;
    });
  },
  'its updates overwrite what others have written meanwhile': () => {
    replace(etcdStore(), 'update', (original) => async (self, key, value, expected, ...more) => {
      const current = await self.get(key);
      return original(self, key, value, current?.revision ?? expected, ...more);
    });
  },
  'it forgets a write that it has acknowledged': () => {
    replace(etcdStore(), 'update', (original) =>
      every(7, async (now, self, key, value, expected, ...more) =>
        now && key.startsWith(RUN)
          ? { ok: true, revision: expected + 1 }
          : original(self, key, value, expected, ...more),
      ),
    );
  },
  // As etcd did: https://github.com/etcd-io/etcd/issues/18089
  'its store loses a deletion that a compaction meets': () => {
    const meets = every(2, (now) => now);
    replace(
      etcdStore(),
      'watch',
      (original) =>
        async function* (self, ...range) {
          for await (const batch of original(self, ...range)) {
            const lost = batch.events.find(({ type, key }) => type === 'delete' && key.startsWith(RUN) && meets());
            if (lost !== undefined) await self.compact(lost.revision);
            yield { ...batch, events: batch.events.filter((event) => event !== lost) };
          }
        },
    );
  },
};

const die = () => process.kill(process.pid, 'SIGKILL');
const WRITES_BEFORE_CRASH = 25;

const crashes = {
  'before a write': () => {
    replace(etcdStore(), 'update', (original) =>
      every(WRITES_BEFORE_CRASH, (now, ...them) => (now ? die() : original(...them))),
    );
  },
  'after sending a write': () => {
    replace(etcdStore(), 'update', (original) =>
      every(WRITES_BEFORE_CRASH, (now, ...them) => {
        if (now) setImmediate(die);
        return original(...them);
      }),
    );
  },
  'after a write, before its answer': () => {
    replace(etcdStore(), 'update', (original) =>
      every(WRITES_BEFORE_CRASH, (now, ...them) => (now ? original(...them).then(die) : original(...them))),
    );
  },
  'after an event has come, before its watchers hear of it': () => {
    replace(eventFeed(), 'publish', (original) =>
      every(WRITES_BEFORE_CRASH, (now, ...them) => (now ? die() : original(...them))),
    );
  },
};

const MINUTE_MS = 60_000;

// Back by less than certificates are dated back.
const clocks = {
  'its clock jumps, at SIGUSR2, first ahead and then back': () => {
    const jumps = [120 * MINUTE_MS, -124 * MINUTE_MS];
    let ahead = 0;
    process.on('SIGUSR2', () => (ahead += jumps.shift() ?? 0));
    const RealDate = Date;
    globalThis.Date = class extends RealDate {
      constructor(...given) {
        super(...(given.length === 0 ? [RealDate.now() + ahead] : given));
      }
      static now() {
        return RealDate.now() + ahead;
      }
    };
  },
};

const bug = process.env['STERNPOST_TEST_BUG'];
const act = { ...bugs, ...crashes, ...clocks }[bug];
if (act === undefined) throw new Error(`there is no bug "${bug}"`);
act();
