/**
 * Writes `dist/library.d.ts` and `dist/library.d.mts`: the library's public types and nothing else. They need no other
 * package's types, so that users may check them with settings of their own (`skipLibCheck: false`, no `esModuleInterop`,
 * TypeScript from 5.4 on). Nothing is type-checked here: `npm run lint` does that.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';

const repository = path.resolve(__dirname, '..');
const dist = path.join(repository, 'dist');

/** What `await using` needs, for those whose `lib` is older. */
const BANNER = '/// <reference lib="esnext.disposable" />\n';

async function main(): Promise<void> {
  const plugin = dts({
    tsconfig: path.join(repository, 'tsconfig.build.json'),
    compilerOptions: { noCheck: true },
  });
  const bundle = await rollup({ input: path.join(repository, 'src', 'index.ts'), plugins: [plugin] });
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
