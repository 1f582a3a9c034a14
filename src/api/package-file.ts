import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A file of the package, by its path below the package's root: from the sources, the build and the bundled command alike. */
export function packageFile(...path: readonly string[]): string {
  let folder = __dirname;
  while (!existsSync(join(folder, 'package.json')) && folder !== dirname(folder)) folder = dirname(folder);
  return join(folder, ...path);
}
