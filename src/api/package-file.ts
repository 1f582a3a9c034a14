import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = rootAbove(__dirname);

/** A file of the package, by its path below the package's root: from the sources, the build and the bundled command alike. */
export function packageFile(...path: readonly string[]): string {
  return join(ROOT, ...path);
}

function rootAbove(folder: string): string {
  const parent = dirname(folder);
  return existsSync(join(folder, 'package.json')) || parent === folder ? folder : rootAbove(parent);
}
