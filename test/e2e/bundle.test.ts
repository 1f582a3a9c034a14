import { isAscii } from 'node:buffer';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { request } from 'node:https';

/** The command as it is built: one file with the packages that it uses. */

const ROOT = resolve(__dirname, '../..');
const OUT = join(ROOT, 'node_modules/.cache/bundle-test');
const MAIN = join(OUT, 'cli/main.js');

let folder: string;

beforeAll(() => {
  execFileSync(process.execPath, ['--require', 'tsx/cjs', join(ROOT, 'scripts/bundle.ts'), '--out', OUT]);
  execFileSync(process.execPath, ['--require', 'tsx/cjs', join(ROOT, 'scripts/compile-code.ts'), MAIN]);
  folder = mkdtempSync(join(tmpdir(), 'sternpost-bundle-'));
}, 60_000);

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function get(port: number, path: string): Promise<string> {
  return new Promise((done, reject) => {
    request({ port, path, rejectUnauthorized: false, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString())).on('end', () => done(text));
    })
      .on('error', reject)
      .end();
  });
}

/** Tells whether V8 took the code that was compiled before. */
const TELL_REJECTED = `
  const vm = require('node:vm');
  vm.Script = class extends vm.Script {
    constructor(source, options) {
      super(source, options);
      console.log('rejected:', this.cachedDataRejected);
    }
  };`;

describe('the bundled command', () => {
  it('is ASCII, which V8 keeps in half the memory and which is read at once', () => {
    expect(isAscii(readFileSync(join(OUT, 'sternpost.js')))).toBe(true);
  });

  it('does not compile anew what was compiled when it was built', () => {
    const teller = join(folder, 'tell-rejected.js');
    writeFileSync(teller, TELL_REJECTED);
    const output = execFileSync(process.execPath, ['--require', teller, MAIN, 'version'], { encoding: 'utf8' });
    expect(output).toContain('rejected: false');
  });

  it('starts an API server, finds the files of the package, and ends', async () => {
    const child = spawn(
      process.execPath,
      [
        MAIN,
        'apiserver',
        '--data-dir',
        folder,
        '--bind-address',
        '127.0.0.1',
        '--secure-port',
        '0',
        '--authorization-mode',
        'RBAC',
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const exit = once(child, 'exit');
    try {
      const port = await new Promise<number>((done, reject) => {
        let output = '';
        const read = (chunk: Buffer): void => {
          output += chunk.toString();
          const serving = /"port":(\d+)[^\n]*"serving"/.exec(output);
          if (serving !== null) done(Number(serving[1]));
        };
        child.stdout.on('data', read);
        child.stderr.on('data', read);
        child.on('exit', () => reject(new Error(output)));
      });
      // Whoever has no name may read it as soon as the default roles are there.
      let version = '';
      while (!version.includes('goVersion')) version = await get(port, '/version');
      expect(JSON.parse(version)).toMatchObject({ major: '1', goVersion: `node ${process.version}` });
    } finally {
      child.kill('SIGTERM');
    }
    expect(await exit).toEqual([0, null]);
  }, 60_000);

  it('takes extensions that are ES modules or CommonJS, and says which it cannot take', async () => {
    const module = join(folder, 'reports.mjs');
    const common = join(folder, 'status.cjs');
    writeFileSync(
      module,
      `export default (app) => app.get('/healthz-reports', (request, response) => response.json(request.user));`,
    );
    writeFileSync(
      common,
      `exports.extend = async (app) => app.get('/status', (_, response) => response.sendFile(__filename));`,
    );
    const flags = ['--data-dir', join(folder, 'extended'), '--secure-port', '0', '--extension', module];
    const child = spawn(process.execPath, [MAIN, 'dev', ...flags, '--extension', common], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exit = once(child, 'exit');
    try {
      const [output] = (await once(child.stdout, 'data')) as [Buffer];
      const port = Number(/127\.0\.0\.1:(\d+)/.exec(output.toString())?.[1]);
      expect(await get(port, '/healthz-reports')).toContain('cannot get path');
      const kubeconfig = join(folder, 'extended', 'kubeconfig');
      const raw = (path: string): string =>
        execFileSync('kubectl', ['--kubeconfig', kubeconfig, 'get', '--raw', path], { encoding: 'utf8' });
      expect(JSON.parse(raw('/healthz-reports'))).toMatchObject({ name: 'kubernetes-admin' });
      expect(raw('/status')).toContain('exports.extend');
      expect((JSON.parse(raw('/')) as { paths: readonly string[] }).paths).toEqual(
        expect.arrayContaining(['/healthz-reports', '/status']),
      );
    } finally {
      child.kill('SIGTERM');
    }
    await exit;
    const empty = join(folder, 'empty.cjs');
    writeFileSync(empty, '');
    const args = [MAIN, 'dev', '--data-dir', join(folder, 'refused'), '--secure-port', '0', '--extension', empty];
    expect(() => execFileSync(process.execPath, args, { stdio: 'pipe' })).toThrow('exports no function');
  }, 60_000);
});
