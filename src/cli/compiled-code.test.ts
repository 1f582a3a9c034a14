import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { wrap } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { compiledFileOf, requireCompiled, sourceHash } from './compiled-code';

interface Responses {
  readonly response: () => number;
}

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sternpost-compiled-'));
  file = join(folder, 'code.js');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const hashOf = (source: string): Buffer => sourceHash(Buffer.from(source));
const answering = (response: number): string => `exports.response = () => ${response};`;

/** What V8 makes of the source once its functions have run. */
function compiled(source: string): Buffer {
  const script = new Script(wrap(source), { filename: file });
  const exports: Partial<Responses> = {};
  (script.runInThisContext() as (exports: object) => void)(exports);
  exports.response?.();
  return script.createCachedData();
}

const answer = (): number => (requireCompiled(file) as Responses).response();

describe('code that was compiled when it was built', () => {
  it('is loaded as by require, with or without what was compiled', () => {
    writeFileSync(join(folder, 'other.js'), 'module.exports = 7;');
    writeFileSync(file, `module.exports = { other: require('./other'), file: __filename, folder: __dirname };`);
    const { other, file: name, folder: place } = requireCompiled(file) as Record<string, unknown>;
    expect([other, name, place]).toEqual([7, file, folder]);
  });

  it('is taken instead of being compiled anew', () => {
    writeFileSync(file, answering(1));
    writeFileSync(compiledFileOf(file), Buffer.concat([hashOf(answering(1)), compiled(answering(2))]));
    expect(answer()).toBe(2);
  });

  it('is not taken for a source that is as long and another', () => {
    writeFileSync(file, answering(1));
    writeFileSync(compiledFileOf(file), Buffer.concat([hashOf(answering(2)), compiled(answering(2))]));
    expect(answer()).toBe(1);
  });

  it('is not taken when it is damaged', () => {
    writeFileSync(file, answering(1));
    for (const damaged of [
      Buffer.alloc(0),
      hashOf(answering(1)),
      Buffer.concat([hashOf(answering(1)), Buffer.alloc(999, 7)]),
    ]) {
      writeFileSync(compiledFileOf(file), damaged);
      expect(answer()).toBe(1);
    }
  });
});
