// Opens the store named by its argument and writes until a write is refused, or 4 MiB are written. Prints what the store
// says then.
require('../support/typescript-hook');
const { openEmbeddedStore } = require('../../src/storage/embedded/embedded-store.ts');

const VALUE = Buffer.alloc(10_000, 'x');
const MOST = 400;
const [path] = process.argv.slice(2);

async function main() {
  let warnings = 0;
  const store = await openEmbeddedStore({ path, logger: { warn: () => warnings++ } });
  let refusal;
  let written = 0;
  while (refusal === undefined && written < MOST) {
    const outcome = await store.create(`/${process.pid}/${written}`, VALUE).catch((error) => (refusal = error));
    if (outcome.ok) written++;
  }
  // Others are refused too, without being said of each.
  if (refusal !== undefined)
    for (let i = 0; i < 10; i++) await store.create(`/more/${i}`, VALUE).catch(() => undefined);
  const [space] = await store.space();
  const list = await store.list({ prefix: `/${process.pid}/` });
  const lines = [
    refusal === undefined ? `written: ${written}` : `refused: ${refusal.publicMessage}`,
    `shortage: ${space.shortage !== undefined}`,
    `healthy: ${await store.health().then(() => true)}`,
    `read all: ${list.items.length === written && list.items.every(({ value }) => VALUE.equals(value))}`,
    `warnings: ${warnings}`,
  ];
  await store.close();
  process.stdout.write(`${lines.join('\n')}\n`, () => process.exit());
}

main().catch((error) => process.stdout.write(`not opened: ${error.message}\n`));
