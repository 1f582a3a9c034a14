import { isAscii } from 'node:buffer';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire, wrap } from 'node:module';
import { dirname } from 'node:path';
import { Script } from 'node:vm';

type Wrapped = (exports: unknown, require: NodeJS.Require, module: object, file: string, folder: string) => void;

const HASH_BYTES = 32;

/** Which source the compiled code is of: V8 itself compares no more than the length. */
export function sourceHash(source: Buffer): Buffer {
  return createHash('sha256').update(source).digest();
}

/** Where scripts/compile-code.ts puts what V8 made of the file. */
export function compiledFileOf(file: string): string {
  return file.replace(/\.js$/, '.v8cache');
}

/**
 * What `require` gives, without compiling what was compiled when the file was built. Code of another release of V8, or with other
 * flags, V8 refuses, and compiles as ever.
 */
export function requireCompiled(file: string): unknown {
  const bytes = readFileSync(file);
  const cachedData = compiledCode(file, bytes);
  // One character beyond ASCII makes the text twice as large in memory, and reading it twenty times as slow.
  const source = bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
  const script = new Script(wrap(source), { filename: file, ...(cachedData && { cachedData }) });
  const module = { exports: {} };
  const run = script.runInThisContext() as Wrapped;
  run(module.exports, createRequire(file), module, file, dirname(file));
  return module.exports;
}

function compiledCode(file: string, source: Buffer): Buffer | undefined {
  try {
    const bytes = readFileSync(compiledFileOf(file));
    return bytes.subarray(0, HASH_BYTES).equals(sourceHash(source)) ? bytes.subarray(HASH_BYTES) : undefined;
  } catch {
    return undefined;
  }
}
