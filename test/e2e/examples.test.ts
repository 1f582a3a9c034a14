import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Each example in a project of its own, with the package as it is built. */

const ROOT = resolve(__dirname, '../..');
const PACKAGES = ['@kubernetes/client-node', 'express', 'jest'];

/** A loaded machine is slow, not wrong: a suite of its own took 55 s beside the other tests. */
const PROCESS_TIMEOUT_MS = 170_000;
jest.setTimeout(180_000);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sternpost-examples-'));
  cpSync(join(ROOT, 'examples'), folder, { recursive: true });
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@kubernetes'), { recursive: true });
  // `make test` has built it.
  symlinkSync(ROOT, join(modules, 'sternpost'));
  for (const name of PACKAGES) symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Output {
  readonly code: number | string | null;
  readonly lines: readonly string[];
}

function run(example: string, ...args: readonly string[]): Promise<Output> {
  return new Promise((done) => {
    const options = { cwd: join(folder, example), timeout: PROCESS_TIMEOUT_MS };
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : (error.code ?? error.signal ?? null);
      done({ code, lines: `${stdout}${code === 0 ? '' : stderr}`.trim().split('\n') });
    });
  });
}

describe('the example', () => {
  it('of a controller copies a ConfigMap', async () => {
    expect(await run('controller', 'demo.mjs')).toEqual({ code: 0, lines: ['copied from default: {"colour":"blue"}'] });
  });

  it('of a Jest suite passes', async () => {
    const jest = join(ROOT, 'node_modules/jest/bin/jest.js');
    expect(await run('jest-suite', jest, '--rootDir', '.')).toMatchObject({ code: 0 });
  });

  it('of an Express application has the API and its routes', async () => {
    const lines = ['an application of its own', 'default', 'system:masters,system:authenticated', 'InternalError'];
    expect(await run('express-extension', 'mounted.mjs')).toEqual({ code: 0, lines });
  });

  it('of an admission webhook is asked', async () => {
    const refusal =
      '403 admission webhook "owners.example.io" denied the request: a ConfigMap needs the annotation "owner"';
    expect(await run('admission-webhook', 'demo.mjs')).toEqual({ code: 0, lines: [refusal, '201 created'] });
  });
});
