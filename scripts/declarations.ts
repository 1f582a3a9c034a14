/**
 * Writes `dist/library.d.ts` and `dist/library.d.mts`: the library's public types and nothing else, from the declarations that
 * the compiler has made. They need no other package's types, so that users may check them with settings of their own
 * (`skipLibCheck: false`, no `esModuleInterop`, TypeScript from 5.4 on).
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';

const dist = path.resolve(__dirname, '..', 'dist');

/** What `await using` needs, for those whose `lib` is older. */
const BANNER = '/// <reference lib="esnext.disposable" />\n';

async function main(): Promise<void> {
  const bundle = await rollup({ input: path.join(dist, 'index.d.ts'), plugins: [dts()] });
  const { output } = await bundle.generate({ format: 'es' });
  await bundle.close();
  const text = BANNER + output[0].code;
  const foreign = text.match(/^import .*$/m);
  if (foreign !== null) throw new Error(`the public types need others: ${foreign[0]}`);
  for (const name of ['library.d.ts', 'library.d.mts']) fs.writeFileSync(path.join(dist, name), text);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
