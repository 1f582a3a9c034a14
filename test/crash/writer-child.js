// Opens the store named by its argument and writes to it until it is killed, or until it comes to a crash point. Prints a line for every acknowledged write:
// revision, key and value ("-" when it deleted the key). A value says its own length and repeats its own revision's key.
require('../support/typescript-hook');
const { armCrashPoint } = require('./crash-points');
const { openEmbeddedStore } = require('../../src/storage/embedded/embedded-store.ts');

const WRITERS = 16;
const KEYS_PER_WRITER = 5;
const [path, round, crashPoint, commitsBefore] = process.argv.slice(2);

const value = (text) => Buffer.from(`${text}${'.'.repeat((text.length * 397) % 6000)}|`);

async function write(store, writer) {
  for (let index = 0; ; index++) {
    const key = `/crash/${writer}-${index % KEYS_PER_WRITER}`;
    const current = await store.get(key);
    const text = `${round}:${writer}:${index}:${'x'.repeat(index % 13)}`;
    const isDelete = current !== undefined && index % 7 === 0;
    const outcome = isDelete
      ? await store.delete(key, current.revision)
      : current === undefined
        ? await store.create(key, value(text))
        : await store.update(key, value(text), current.revision);
    if (!outcome.ok) throw new Error(`${key} was written by somebody else`);
    process.stdout.write(`${outcome.revision} ${key} ${isDelete ? '-' : text}\n`);
  }
}

async function main() {
  if (crashPoint !== undefined) armCrashPoint(crashPoint, Number(commitsBefore));
  // Compaction as often as it can be: a crash in the middle of one must do no harm either.
  const store = await openEmbeddedStore({ path, historyMs: 500, compactionIntervalMs: 50 });
  process.stdout.write(`open ${await store.currentRevision()}\n`);
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(store, writer)));
}

void main();
