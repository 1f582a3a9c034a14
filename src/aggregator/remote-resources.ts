interface ListedResource {
  readonly name?: unknown;
  readonly singularName?: unknown;
  readonly namespaced?: unknown;
  readonly group?: unknown;
  readonly version?: unknown;
  readonly kind?: unknown;
  readonly verbs?: unknown;
  readonly shortNames?: unknown;
  readonly categories?: unknown;
}

/**
 * The resources of another server's APIResourceList, in the form of aggregated discovery. Undefined for what is no such
 * list; entries that make no sense are left out.
 */
export function remoteResources(list: unknown, group: string, version: string): readonly object[] | undefined {
  const listed = resourcesIn(list);
  if (listed === undefined) return undefined;
  const named = listed.filter(({ name, kind }) => isText(name) && isText(kind));
  const responseKind = ({ group: other, version: otherVersion, kind }: ListedResource): object => ({
    group: isText(other) ? other : group,
    version: isText(otherVersion) ? otherVersion : version,
    kind,
  });
  const subresources = new Map<string, object[]>();
  for (const one of named) {
    const [resource = '', subresource] = String(one.name).split('/', 2);
    if (subresource === undefined) continue;
    const known = subresources.get(resource) ?? [];
    known.push({ subresource, responseKind: responseKind(one), verbs: texts(one.verbs) });
    subresources.set(resource, known);
  }
  return named
    .filter(({ name }) => !String(name).includes('/'))
    .map((one) => {
      const shortNames = texts(one.shortNames);
      const categories = texts(one.categories);
      const below = subresources.get(String(one.name));
      return {
        resource: one.name,
        responseKind: responseKind(one),
        scope: one.namespaced === true ? 'Namespaced' : 'Cluster',
        singularResource: isText(one.singularName) ? one.singularName : '',
        verbs: texts(one.verbs),
        ...(shortNames.length > 0 ? { shortNames } : {}),
        ...(categories.length > 0 ? { categories } : {}),
        ...(below === undefined ? {} : { subresources: below }),
      };
    });
}

function resourcesIn(list: unknown): readonly ListedResource[] | undefined {
  if (typeof list !== 'object' || list === null) return undefined;
  const { kind, resources } = list as { readonly kind?: unknown; readonly resources?: unknown };
  if (kind !== 'APIResourceList' || !Array.isArray(resources)) return undefined;
  return resources.filter((one): one is ListedResource => typeof one === 'object' && one !== null);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter(isText) : [];
}
