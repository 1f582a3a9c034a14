import { createRequire } from 'node:module';
import * as path from 'node:path';

const requireBuilt = createRequire(__filename);

const index = process.argv.indexOf('--dist');

/** The folder of the build to measure: the project's own, or the one that `--dist` names. */
export const dist = index < 0 ? path.join(__dirname, '..', 'dist') : path.resolve(process.argv[index + 1] ?? '');

/** A module of that build; its type is that of the module's source. */
export const load = <M>(module: string): M => requireBuilt(path.join(dist, module)) as M;
