/**
 * Compiles `proto/` into what the program loads and imports:
 *
 * - `generated/schema.json`: one descriptor of all messages, so that start-up parses no .proto file
 * - `generated/openapi-v2.json`: the messages of the Protobuf form of OpenAPI documents, for protobufjs
 * - `src/api/schema/generated/<group>-<version>.ts`: a readonly TypeScript type for each message
 * - `src/api/steps/generated/`: algorithms on objects in a form that can be interrupted, derived from the plain one
 * - `generated/text-worker.js`: what runs in the worker thread, as one file, since a thread is started from a file and the
 *   sources, the build and the bundled command have theirs in different places
 * - `src/flags/generated/api-server-flags.ts`: a readonly TypeScript type for the flags that the library takes
 *
 * The same input gives the same bytes. `--out DIR` writes below another folder than the repository (for tests).
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { buildSync } from 'esbuild';
import protobuf from 'protobufjs';
import { COMMAND_FLAGS, controlPlaneFlags } from '../src/flags/control-plane-flags';
import type { FlagTable } from '../src/flags/flag-table';
import { readProtoFolder } from './schema/read-proto';
import { renderFlags } from './schema/render-flags';
import { renderTypes } from './schema/render-types';
import { deriveSteps } from './steps/derive-steps';

const repository = path.resolve(__dirname, '..');

/** Of `src/api`, each after those that it imports from. */
const IN_STEPS = [
  'sort-in-runs',
  'sorted-json',
  'codec/key-order',
  'patch/json-equal',
  'patch/finished-equal',
  'kinds/deep-equal',
  'codec/json-depth',
  'apply/canonical-json',
  'apply/item-element',
  'apply/go-text',
  'apply/set-algebra',
  'apply/fields-v1',
  'apply/set-paths',
  'apply/list-items',
  'apply/value-sets',
  'apply/compare',
  'apply/merge-values',
  'apply/validate-typed',
  'apply/schema-change',
  'apply/managed-fields',
  'apply/ownership',
  'apply/last-applied',
  'apply/conflicts',
  'apply/field-manager',
  'patch/identity-places',
  'patch/repeated-merges',
  'patch/strategic-merge-list',
  'patch/strategic-merge',
  'patch/merge-patch',
  'patch/copied-value',
  'patch/json-patch',
];

function main(args: readonly string[]): number {
  const out = args[0] === '--out' && args[1] ? path.resolve(args[1]) : repository;
  const { files, problems } = readProtoFolder(path.join(repository, 'proto'));
  if (problems.length > 0) {
    process.stderr.write(problems.map((problem) => `proto/${problem}\n`).join(''));
    return 1;
  }
  const typeFiles = files.filter((file) => file.group !== undefined);
  writeIfChanged(path.join(out, 'generated', 'schema.json'), `${JSON.stringify({ files })}\n`);
  const openApi = protobuf.loadSync(path.join(repository, 'proto', 'openapi', 'v2.proto')).toJSON();
  writeIfChanged(path.join(out, 'generated', 'openapi-v2.json'), `${JSON.stringify(openApi)}\n`);
  writeIfChanged(path.join(out, 'generated', 'text-worker.js'), bundledThread());
  const typesFolder = path.join(out, 'src', 'api', 'schema', 'generated');
  const wanted = new Map(renderTypes(typeFiles, files));
  for (const [name, text] of wanted) writeIfChanged(path.join(typesFolder, name), text);
  for (const name of fs.readdirSync(typesFolder)) {
    if (!wanted.has(name)) fs.rmSync(path.join(typesFolder, name));
  }
  writeSteps(path.join(out, 'src', 'api', 'steps', 'generated'));
  const flagTypes = renderFlags({ ...controlPlaneFlags, ...libraryDefaults() }, [...COMMAND_FLAGS]);
  writeIfChanged(path.join(out, 'src', 'flags', 'generated', 'api-server-flags.ts'), flagTypes);
  return 0;
}

function writeSteps(folder: string): void {
  const api = path.join(repository, 'src', 'api');
  const inRepository = path.join(api, 'steps', 'generated');
  const derived = deriveSteps(api, inRepository, IN_STEPS, (file) => fs.readFileSync(file, 'utf8'));
  for (const [name, text] of derived) writeIfChanged(path.join(folder, `${name}.ts`), text);
}

function bundledThread(): string {
  return bundled('src/worker/text-worker-thread.ts');
}

/** What startApiServer (src/index.ts) gives instead of the command's defaults. */
function libraryDefaults(): FlagTable {
  const { 'data-dir': dataDir, 'secure-port': port } = controlPlaneFlags;
  return {
    'data-dir': { ...dataDir, default: 'a temporary folder, removed at the end' },
    'secure-port': { ...port, default: '0' },
  };
}

/** A file of the sources and all that it imports. */
function bundled(file: string): string {
  const { outputFiles } = buildSync({
    absWorkingDir: repository,
    entryPoints: [file],
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    tsconfig: 'tsconfig.build.json',
    external: ['lmdb'],
    legalComments: 'none',
    logLevel: 'warning',
  });
  return outputFiles[0]?.text ?? '';
}

/** Leaves the time of an unchanged file alone, so that incremental builds and watchers see no change. */
function writeIfChanged(file: string, text: string): void {
  if (fs.existsSync(file) && fs.readFileSync(file, 'utf8') === text) return;
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
}

process.exitCode = main(process.argv.slice(2));
