/** What Express's router keeps of a route or of middleware. */
export interface Layer {
  readonly rawPath?: unknown;
  readonly route?: { readonly path?: unknown } | undefined;
  readonly handle?: { readonly stack?: unknown };
}

/** What means something in Express's paths. */
const PATTERN = /[*:{}()[\]?+!\\]/;

/** Those of an application's router, in their order. */
export function layersOf(router: unknown): readonly Layer[] {
  const { stack } = router as { readonly stack?: unknown };
  return Array.isArray(stack) ? (stack as readonly Layer[]) : [];
}

/**
 * The paths at which there is something, in routers within, too. Patterns are left out: they cannot be asked for.
 */
export function pathsIn(layers: readonly Layer[], prefix = ''): readonly string[] {
  return layers.flatMap(({ rawPath, route, handle }) => {
    const paths = plainPaths(route === undefined ? rawPath : route.path).map((path) => join(prefix, path));
    if (route !== undefined) return paths;
    const within = layersOf(handle ?? {});
    if (within.length > 0) return paths.flatMap((path) => pathsIn(within, path));
    return paths.filter((path) => path !== (prefix || '/'));
  });
}

function plainPaths(path: unknown): readonly string[] {
  const paths: readonly unknown[] = Array.isArray(path) ? path : [path];
  return paths.filter((one): one is string => typeof one === 'string' && !PATTERN.test(one));
}

function join(prefix: string, path: string): string {
  if (path === '/' || path === '') return prefix === '' ? '/' : prefix;
  return `${prefix === '/' ? '' : prefix}${path}`;
}
