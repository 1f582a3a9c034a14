/** A resource of which something is stored: its name with its group, as an EncryptionConfiguration has it. */
export interface StoredResource {
  /** `pods`, `services/specs`, `apiextensions.k8s.io/customresourcedefinitions`. */
  readonly storagePrefix: string;
  /** Empty for the core group. */
  readonly group: string;
  readonly resource: string;
}

export function resourceName({ group, resource }: Pick<StoredResource, 'group' | 'resource'>): string {
  return group === '' ? resource : `${resource}.${group}`;
}

/**
 * Whose a key is, by how it begins: a built-in resource's, or a custom one's (`<group>/<plural>/`). Undefined for what is no
 * resource, such as the ranges of addresses.
 */
export function keyResources(keyRoot: string, builtIn: readonly StoredResource[]): (key: string) => string | undefined {
  const known = new Map(builtIn.map((one) => [one.storagePrefix, resourceName(one)]));
  return (key) => {
    if (!key.startsWith(keyRoot)) return undefined;
    const first = key.indexOf('/', keyRoot.length);
    if (first < 0) return undefined;
    const second = key.indexOf('/', first + 1);
    const [short, long] = [
      key.slice(keyRoot.length, first),
      second < 0 ? undefined : key.slice(keyRoot.length, second),
    ];
    const found = (long === undefined ? undefined : known.get(long)) ?? known.get(short);
    if (found !== undefined || long === undefined || !short.includes('.')) return found;
    return resourceName({ group: short, resource: key.slice(first + 1, second) });
  };
}
