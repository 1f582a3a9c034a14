/**
 * Makes what the package ships out of the sources, below `dist/` (`--out DIR`: below another folder of the repository, for
 * tests):
 *
 * - `sternpost.js`: all code, with the packages that it uses, in one file: finding, reading and compiling a thousand modules is
 *   a sixth of a start. The library and the command are in it, so that they share what they have in common
 * - `import-module.js`: what loads modules of others (`--extension`)
 * - `etcd3/client.js`: the packages around etcd3, which `--etcd-client=etcd3` loads, with etcd's definitions in `proto/`
 * - `cli/main.js`: the command; it loads that file once it knows that Node.js is new enough for it, with what
 *   scripts/compile-code.ts has put beside it
 * - `library.js`, `library.mjs`: what `require('sternpost')` and `import 'sternpost'` get
 * - `licenses.txt`: the licenses of the packages in that file
 *
 * The declarations of the library come from scripts/declarations.ts. docs/decisions/0011-one-file.md says why.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { build, type BuildOptions, type Plugin } from 'esbuild';

const repository = path.resolve(__dirname, '..');

const COMMON: BuildOptions = {
  absWorkingDir: repository,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  tsconfig: 'tsconfig.build.json',
  legalComments: 'none',
  logLevel: 'warning',
};

const EVERYTHING = `
  export { startApiServer } from './index';
  export { runCommand } from './cli/commands';
`;

/** A Node.js that is too old is told so before anything is loaded that it might not have. */
const LIBRARY = `
  import { nodeVersionProblem } from './cli/node-version';
  const problem = nodeVersionProblem();
  if (problem !== undefined) throw new Error(problem);
  module.exports = { startApiServer: require('./sternpost.js').startApiServer };
`;

const LIBRARY_MODULE = `import library from './library.js';
export const { startApiServer } = library;
`;

/** Of node-forge, ASN.1 is used: a fifth of it. */
const asn1OfForge: Plugin = {
  name: 'asn1-of-node-forge',
  setup: (build) => {
    build.onResolve({ filter: /^node-forge$/ }, () => ({ path: 'node-forge', namespace: 'part' }));
    build.onLoad({ filter: /./, namespace: 'part' }, () => ({
      contents: `require('node-forge/lib/asn1'); module.exports = require('node-forge/lib/forge');`,
      resolveDir: repository,
    }));
  },
};

/**
 * Of Express, what an application that others are given can reach: no body parsers and no static files, which come with an Express of
 * their own. Its table of media types, half of what loading it takes, waits until somebody asks.
 */
const partOfExpress: Plugin = {
  name: 'part-of-express',
  setup(build) {
    build.onResolve({ filter: /^(body-parser|serve-static)$/ }, () => ({
      path: 'nothing',
      namespace: 'part-of-express',
    }));
    build.onResolve({ filter: /^mime-types$/ }, ({ namespace }) =>
      namespace === 'part-of-express' ? undefined : { path: 'mime-types', namespace: 'part-of-express' },
    );
    build.onLoad({ filter: /^nothing$/, namespace: 'part-of-express' }, () => ({ contents: 'module.exports = {};' }));
    build.onLoad({ filter: /^mime-types$/, namespace: 'part-of-express' }, () => ({
      contents: ['charset', 'contentType', 'extension', 'lookup']
        .map((name) => `exports.${name} = (text) => require('mime-types').${name}(text);`)
        .join('\n'),
      resolveDir: repository,
    }));
  },
};

/** Masks of WebSocket messages, without a package of machine code. */
const masksInWords: Plugin = {
  name: 'masks-in-words',
  setup: (build) => {
    build.onResolve({ filter: /^bufferutil$/ }, () => ({ path: path.join(repository, 'src/streams/mask-bytes.ts') }));
  },
};

/** What `--etcd-client=etcd3` needs has a file of its own. */
const etcd3Elsewhere: Plugin = {
  name: 'etcd3-elsewhere',
  setup: (build) => {
    build.onResolve({ filter: /^\.\/library$/ }, ({ importer }) =>
      path.basename(path.dirname(importer)) === 'etcd3' ? { path: './etcd3/client.js', external: true } : undefined,
    );
  },
};

/** What loads modules of others is never compiled beforehand. */
const importModuleElsewhere: Plugin = {
  name: 'import-module-elsewhere',
  setup: (build) => {
    build.onResolve({ filter: /^\.\/import-module$/ }, () => ({ path: './import-module.js', external: true }));
  },
};

/** The commands are in the large file, perhaps compiled (scripts/compile-code.ts). */
const commandsElsewhere: Plugin = {
  name: 'commands-elsewhere',
  setup: (build) => {
    build.onResolve({ filter: /^\.\/commands$/ }, () => ({ path: 'commands', namespace: 'elsewhere' }));
    build.onLoad({ filter: /./, namespace: 'elsewhere' }, () => ({
      contents: `
        const { requireCompiled } = require('./compiled-code');
        module.exports = requireCompiled(require('node:path').resolve(__dirname, '../sternpost.js'));`,
      resolveDir: path.join(repository, 'src', 'cli'),
    }));
  },
};

async function main([flag, folder]: readonly string[]): Promise<void> {
  const out = path.resolve(repository, flag === '--out' && folder ? folder : 'dist');
  const { metafile } = await build({
    ...COMMON,
    stdin: { contents: EVERYTHING, resolveDir: path.join(repository, 'src'), loader: 'ts' },
    outfile: path.join(out, 'sternpost.js'),
    allowOverwrite: true,
    // It finds its binary beside itself.
    external: ['lmdb'],
    plugins: [asn1OfForge, etcd3Elsewhere, importModuleElsewhere, partOfExpress, masksInWords],
    // Names stay, and lines short enough to find a place by: stack traces are read.
    minifyWhitespace: true,
    lineLimit: 160,
    metafile: true,
  });
  await build({
    ...COMMON,
    entryPoints: ['src/cli/main.ts'],
    outfile: path.join(out, 'cli', 'main.js'),
    allowOverwrite: true,
    plugins: [commandsElsewhere],
  });
  await build({
    ...COMMON,
    entryPoints: ['src/flags/import-module.ts'],
    outfile: path.join(out, 'import-module.js'),
    allowOverwrite: true,
  });
  const etcd3 = await build({
    ...COMMON,
    entryPoints: ['src/storage/etcd3/library.ts'],
    outfile: path.join(out, 'etcd3', 'client.js'),
    allowOverwrite: true,
    // None of it is ours: its size counts more than its names in stack traces.
    minify: true,
    metafile: true,
  });
  // It reads them from the folder `proto` beside its own.
  fs.cpSync(path.join(path.dirname(require.resolve('etcd3/package.json')), 'proto'), path.join(out, 'proto'), {
    recursive: true,
  });
  await build({
    ...COMMON,
    stdin: { contents: LIBRARY, resolveDir: path.join(repository, 'src'), loader: 'ts' },
    outfile: path.join(out, 'library.js'),
    allowOverwrite: true,
    external: ['./sternpost.js'],
  });
  fs.writeFileSync(path.join(out, 'library.mjs'), LIBRARY_MODULE);
  fs.writeFileSync(
    path.join(out, 'licenses.txt'),
    licenses(packagesIn(Object.keys({ ...metafile.inputs, ...etcd3.metafile.inputs }))),
  );
}

/** The folders of the packages from which the files come. */
function packagesIn(files: readonly string[]): readonly string[] {
  const folders = files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
  return [...new Set(folders)].sort();
}

function licenses(folders: readonly string[]): string {
  return folders
    .map((folder) => {
      const { name, version, license } = JSON.parse(
        fs.readFileSync(path.join(repository, folder, 'package.json'), 'utf8'),
      ) as { readonly name: string; readonly version: string; readonly license: string };
      const file = fs.readdirSync(path.join(repository, folder)).find((entry) => /^licen[cs]e/i.test(entry));
      const text = file === undefined ? '' : fs.readFileSync(path.join(repository, folder, file), 'utf8').trim();
      return `${name} ${version} (${license})\n\n${text}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
