import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** What `npm pack` makes, in an empty project. */

const ROOT = resolve(__dirname, '../..');
/** Compilers that are not the project's own, kept from run to run. */
const COMPILERS = join(ROOT, 'node_modules/.cache/compilers');

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

let folder: string;
let packed: Packed;

function npm(cwd: string, ...args: readonly string[]): string {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}

function node(...args: readonly string[]): string {
  return execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** The path of a TypeScript compiler of that version. */
function compiler(version: string): string {
  const prefix = join(COMPILERS, version);
  const file = join(prefix, 'node_modules/typescript/bin/tsc');
  if (!existsSync(file)) {
    mkdirSync(prefix, { recursive: true });
    npm(prefix, 'install', '--prefix', prefix, '--no-audit', '--no-fund', `typescript@${version}`);
  }
  return file;
}

function write(name: string, ...lines: readonly string[]): string {
  writeFileSync(join(folder, name), `${lines.join('\n')}\n`);
  return name;
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sternpost-package-'));
  // Whoever runs all tests has just built, and others read `dist/` meanwhile.
  if (process.env['STERNPOST_TEST_BUILT'] === undefined) npm(ROOT, 'run', '--silent', 'build');
  const [made] = JSON.parse(npm(ROOT, 'pack', '--ignore-scripts', '--json', '--pack-destination', folder)) as [Packed];
  packed = made;
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  execFileSync('tar', ['-xzf', join(folder, packed.filename), '-C', modules]);
  execFileSync('mv', [join(modules, 'package'), join(modules, 'sternpost')]);
  // Its one dependency. What it needs itself is found beside where it really is.
  symlinkSync(join(ROOT, 'node_modules/lmdb'), join(modules, 'lmdb'));
  writeFileSync(join(folder, 'package.json'), '{"private": true}\n');
}, 120_000);

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface Manifest {
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

function manifest(): Manifest {
  return JSON.parse(readFileSync(join(folder, 'node_modules/sternpost/package.json'), 'utf8')) as Manifest;
}

describe('the package', () => {
  it('ships what is used and nothing else', () => {
    expect(packed.files.map(({ path }) => path).sort()).toEqual([
      'LICENSE',
      'README.md',
      'dist/cli/main.js',
      'dist/etcd3/client.js',
      'dist/import-module.js',
      'dist/library.d.mts',
      'dist/library.d.ts',
      'dist/library.js',
      'dist/library.mjs',
      'dist/licenses.txt',
      'dist/proto/auth.proto',
      'dist/proto/kv.proto',
      'dist/proto/rpc.proto',
      'dist/sternpost.js',
      'generated/build-info.json',
      'generated/openapi-v2.json',
      'generated/schema.json',
      'generated/text-worker.js',
      'package.json',
    ]);
    expect(packed.size).toBeLessThan(1_400_000);
    expect(packed.unpackedSize).toBeLessThan(6_000_000);
    expect(Object.keys(manifest().dependencies)).toEqual(['lmdb']);
  });

  it('names no map that is not there, and has the licenses of what is inside', () => {
    const code = readFileSync(join(folder, 'node_modules/sternpost/dist/sternpost.js'), 'utf8');
    expect(code).not.toContain('sourceMappingURL');
    const licenses = readFileSync(join(folder, 'node_modules/sternpost/dist/licenses.txt'), 'utf8');
    const sections = licenses.split(`\n${'-'.repeat(80)}\n\n`);
    expect(sections.length).toBeGreaterThan(10);
    for (const section of sections) expect(section).toMatch(/^\S+ \d+\.\d+\.\d+ \(.+\)\n\n[\s\S]{200}/);
  });

  it('has a command that works', () => {
    const { bin } = manifest();
    const main = join(folder, 'node_modules/sternpost', bin['sternpost'] ?? '');
    expect(readFileSync(main, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
    expect(node(main, 'version')).toBe(`${(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version}\n`); // prettier-ignore
    expect(node(main, 'apiserver', '--help')).toContain('--etcd-servers');
  });

  it('tells a Node.js that is too old in one sentence, before it loads anything that this might not have', () => {
    const file = write(
      'too-old.cjs',
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.8' } });",
      "try { require('sternpost'); } catch (error) { console.log(error.message); }",
      "console.log(Object.keys(require.cache).some((name) => name.endsWith('sternpost.js')));",
    );
    expect(node(file)).toMatch(/^Sternpost needs Node.js 20\.\d+ or later; this is 18\.20\.8\.\nfalse\n$/);
  });

  it('gives the same library to import and require, its package.json, and nothing else', () => {
    const file = write(
      'exports.mjs',
      "import { createRequire } from 'node:module';",
      "import * as imported from 'sternpost';",
      'const require = createRequire(import.meta.url);',
      "const required = require('sternpost');",
      "const failure = (name) => { try { require(name); return ''; } catch (error) { return error.code; } };",
      'console.log(JSON.stringify({',
      '  imported: Object.keys(imported),',
      '  required: Object.keys(required),',
      '  same: imported.startApiServer === required.startApiServer,',
      "  name: require('sternpost/package.json').name,",
      "  inside: failure('sternpost/dist/sternpost.js'),",
      '}));',
    );
    expect(JSON.parse(node(file))).toEqual({
      imported: ['startApiServer'],
      required: ['startApiServer'],
      same: true,
      name: 'sternpost',
      inside: 'ERR_PACKAGE_PATH_NOT_EXPORTED',
    });
  });

  it('runs under node:test, without a warning, and leaves nothing that keeps the process', () => {
    const file = write(
      'servers.test.mjs',
      "import assert from 'node:assert';",
      "import { get } from 'node:https';",
      "import { test } from 'node:test';",
      "import { startApiServer } from 'sternpost';",
      "process.on('warning', (warning) => { throw warning; });",
      "test('several servers', async () => {",
      '  const names = [1, 2, 3].map((number) => `only-${number}`);',
      '  const objects = (name) => [`{kind: Namespace, apiVersion: v1, metadata: {name: ${name}}}`];',
      '  const servers = await Promise.all(names.map((name) => startApiServer({ objects: objects(name), users: { me: [] } })));',
      '  for (const [index, { url, token, certificateAuthority: ca }] of servers.entries()) {',
      '    const text = await new Promise((resolve, reject) => {',
      '      const headers = { authorization: `Bearer ${token}` };',
      '      get(`${url}/api/v1/namespaces`, { ca, headers, agent: false }, async (response) => {',
      '        resolve(Buffer.concat(await response.toArray()).toString());',
      "      }).on('error', reject);",
      '    });',
      '    assert.deepEqual(names.filter((name) => text.includes(name)), [names[index]]);',
      '  }',
      '  await Promise.all(servers.map((server) => server.stop()));',
      '});',
    );
    expect(node('--test-reporter=tap', file)).toContain('# pass 1');
  }, 60_000);
});

describe('the types of the package', () => {
  beforeAll(() => {
    write(
      'use.ts',
      "import { startApiServer, type ApiServer, type ApiServerFlags, type ApiServerOptions } from 'sternpost';",
      'export async function use(): Promise<string> {',
      "  const flags: ApiServerFlags = { 'secure-port': 0, 'authorization-mode': ['RBAC'], 'event-ttl': '5m' };",
      "  const options: ApiServerOptions = { flags, featureGates: { A: true }, objects: [{ kind: 'x' }, 'y'], port: undefined };",
      '  const server: ApiServer = await startApiServer(options);',
      "  const withUsers = await startApiServer({ users: { alice: ['developers'] } });",
      '  const token: string = withUsers.users.alice.token;',
      '  // @ts-expect-error: there is no such user',
      '  withUsers.users.bob;',
      '  // @ts-expect-error: there is no such flag',
      '  await startApiServer({ flags: { nothing: 1 } });',
      "  await startApiServer({ extend: (app) => app.get('/a', ({ user }, response) => response.json(user.groups)) });",
      '  const general: ApiServer = withUsers;',
      '  await general.stop();',
      '  await server.stop();',
      '  return token + server.kubeconfig + server.url;',
      '}',
    );
    write(
      'use.mts',
      "import { startApiServer } from 'sternpost';",
      'await using server = await startApiServer();',
      'export const url: string = server.url;',
    );
    write('use.cts', "import sternpost = require('sternpost');", 'export const start = sternpost.startApiServer;');
  });

  const MODULES = [
    ['nodenext', 'nodenext', 'es2022', ['use.ts', 'use.mts', 'use.cts']],
    ['esnext', 'bundler', 'es2022', ['use.ts', 'use.mts']],
  ] as const;

  it.each([
    ['5.4', [...MODULES, ['commonjs', 'node', 'es2017', ['use.ts']] as const]],
    // The way of Node 10 is gone since.
    ['7', MODULES],
  ] as const)(
    'need nothing but TypeScript %s: no other types, no esModuleInterop, no skipLibCheck',
    (version, modules) => {
      const tsc = compiler(version);
      for (const [module, resolution, target, files] of modules) {
        const flags = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--noEmit'];
        const settings = ['--module', module, '--moduleResolution', resolution, '--target', target];
        let output = '';
        try {
          output = node(tsc, ...flags, ...settings, ...files);
        } catch (error) {
          output = String((error as { readonly stdout?: string }).stdout);
        }
        expect({ module, resolution, output }).toEqual({ module, resolution, output: '' });
      }
    },
    120_000,
  );
});
