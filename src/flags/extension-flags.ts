import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Extension } from '../http/application/extension';
import type { FlagTable } from './flag-table';
import { importModule } from './import-module';

export const extensionFlags = {
  extension: {
    type: 'stringArray',
    section: 'Extensions',
    help: 'Module of JavaScript (ES module or CommonJS) whose function, exported as default or "extend", adds routes to the Express application that it is given: (app) => app.get("/reports", ...). They run behind authentication and authorization (nonResourceURLs). May be given several times.',
  },
} as const satisfies FlagTable;

/** Modules are loaded when the server starts. */
export function extensionsFromFlags({ extension }: { readonly extension: readonly string[] }): readonly Extension[] {
  return extension.map((file) => async (app) => {
    try {
      await (
        await extensionOf(file)
      )(app);
    } catch (error) {
      throw new Error(`--extension ${file}: ${(error as Error).message}`, { cause: error });
    }
  });
}

async function extensionOf(file: string): Promise<Extension> {
  const module = await importModule(pathToFileURL(resolve(file)).href);
  const found = candidates(module).find((candidate) => typeof candidate === 'function');
  if (found === undefined) throw new Error('the module exports no function, neither as default nor as "extend"');
  return found as Extension;
}

/** The default of CommonJS is what the module exports, which may have been compiled from an ES module. */
function candidates(module: unknown): readonly unknown[] {
  const { extend, default: standard } = (module ?? {}) as { readonly extend?: unknown; readonly default?: unknown };
  const within = (standard ?? {}) as { readonly extend?: unknown; readonly default?: unknown };
  return [extend, standard, within.extend, within.default];
}
