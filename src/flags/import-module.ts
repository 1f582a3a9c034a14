/**
 * Loads a module of others. A file of its own in what is built: the file that all the rest is in may be compiled before it is run
 * (src/cli/compiled-code.ts), and code of that kind cannot load modules by `import()`.
 */
export async function importModule(url: string): Promise<unknown> {
  return (await import(url)) as unknown;
}
