// Opens the store named by its argument, writes once, and prints what becomes of it. With "unsynced" as the second argument
// the store has a bug: it does not wait until a write is on the disk.
require('../support/typescript-hook');
const lmdb = require('lmdb');

const [path, bug] = process.argv.slice(2);
if (bug === 'unsynced') {
  const { open } = lmdb;
  lmdb.open = (options) => open({ ...options, noSync: true });
}
const { openEmbeddedStore } = require('../../src/storage/embedded/embedded-store.ts');

async function main() {
  const store = await openEmbeddedStore({ path });
  const outcome = await store.create(`/${process.pid}`, Buffer.from('x')).then(
    () => 'acknowledged',
    (error) => `refused: ${error.message}`,
  );
  process.stdout.write(`${outcome}\n`, () => process.exit());
}

void main();
