import { apply, trackUpdate, type FieldManagerOptions } from '../api/apply/field-manager';
import type { JsonObject, KubeObject } from '../api/object';
import { apiVersionOf, parseApiVersion } from '../api/object';
import type { Catalogue, ServedResource } from './dependencies';

/** Who owns which field of an object (spec, "Field ownership"). Objects are in the requested version. */
export interface FieldOwnership {
  /** `updated` with its managedFields brought up to date. Never refuses. */
  trackUpdate(change: {
    readonly served: ServedResource;
    readonly live: KubeObject | undefined;
    readonly updated: KubeObject;
    readonly manager: string;
  }): KubeObject;
  /**
   * The merge of an applied configuration into what is there; its types are yet to be checked. Throws 400 for a
   * configuration that does not fit, 409 with all conflicts unless forced.
   */
  apply(change: {
    readonly served: ServedResource;
    readonly live: KubeObject | undefined;
    readonly applied: KubeObject;
    readonly manager: string;
    readonly force: boolean;
  }): KubeObject;
}

/** `now`: milliseconds since the epoch. */
export function fieldOwnership(catalogue: Catalogue, now: () => number): FieldOwnership {
  const optionsOf = (served: ServedResource, manager: string): FieldManagerOptions => {
    const { definition, version, type, custom } = served;
    const { group } = version;
    const convert = versionConverter(catalogue, served);
    return {
      type,
      gvk: { group, version: version.version, kind: definition.kind },
      manager,
      now: `${new Date(now()).toISOString().slice(0, 19)}Z`,
      schemaMayChange: custom,
      ...(convert === undefined ? {} : { convert }),
    };
  };
  return {
    trackUpdate: ({ served, live, updated, manager }) =>
      trackUpdate({ live, object: updated, ...optionsOf(served, manager) }),
    apply: ({ served, live, applied, manager, force }) =>
      apply({ live, applied: applied as unknown as JsonObject, force, ...optionsOf(served, manager) }).object,
  };
}

/** To the versions in which other managers wrote; absent for kinds of one shape. */
function versionConverter(catalogue: Catalogue, served: ServedResource): FieldManagerOptions['convert'] {
  const { definition, version: requested } = served;
  if (definition.versions.every(({ convert }) => convert === undefined)) return undefined;
  return (object, apiVersion) => {
    const { group, version } = parseApiVersion(apiVersion);
    const target = catalogue.resolve(group, version, definition.resource);
    if (target === undefined) return undefined;
    const from = object.apiVersion === undefined ? requested : versionOf(served, object.apiVersion);
    const stored = from?.convert?.toStorage(object) ?? object;
    const converted = target.version.convert?.fromStorage(stored) ?? stored;
    return { type: target.type, object: { ...converted, apiVersion } };
  };
}

function versionOf({ definition }: ServedResource, apiVersion: string): ServedResource['version'] | undefined {
  return definition.versions.find(({ group, version }) => apiVersionOf(group, version) === apiVersion);
}
