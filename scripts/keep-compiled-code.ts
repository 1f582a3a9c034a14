/**
 * To be loaded before the command (`node --require`, compiled): on SIGTERM, what V8 has compiled of the command's code is
 * written beside it, for src/cli/compiled-code.ts.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import v8 from 'node:v8';
import vm from 'node:vm';

class KeptScript extends vm.Script {
  constructor(source: string, options: vm.ScriptOptions & { readonly filename: string }) {
    super(source, options);
    // V8 takes code only with the flags that it was made with, and it is loaded with those of the start.
    v8.setFlagsFromString = () => undefined;
    // The command itself does not listen for it from the beginning.
    process.once('SIGTERM', () => {
      const hash = createHash('sha256').update(readFileSync(options.filename)).digest();
      writeFileSync(options.filename.replace(/\.js$/, '.v8cache'), Buffer.concat([hash, this.createCachedData()]));
      process.exit();
    });
  }
}

Object.assign(vm, { Script: KeptScript });
