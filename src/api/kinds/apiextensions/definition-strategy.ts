import type { KubeObject } from '../../object';
import { isPlainMap, listAt, mapAt, stringAt, valueAt, type PlainMap } from '../field-values';
import { keepSpecAndMetadata, keepStatus, withFields } from '../strategies';

function defaultNames(names: PlainMap): PlainMap {
  const kind = stringAt(names, 'kind');
  if (kind === '') return names;
  return {
    ...names,
    singular: stringAt(names, 'singular') || kind.toLowerCase(),
    listKind: stringAt(names, 'listKind') || `${kind}List`,
  };
}

/** Before v1 a definition could have one version, and say so in a field of its own. */
function defaultVersions(spec: PlainMap): PlainMap {
  const version = stringAt(spec, 'version');
  const versions = listAt(spec, 'versions');
  if (versions.length === 0 && version !== '') {
    return { ...spec, versions: [{ name: version, served: true, storage: true }] };
  }
  const first = stringAt(versions[0], 'name');
  return version === '' && first !== '' ? { ...spec, version: first } : spec;
}

function defaultConversion(conversion: unknown, version: string): unknown {
  if (!isPlainMap(conversion)) return { strategy: 'None' };
  const mustGuess =
    version === 'v1beta1' &&
    conversion['strategy'] === 'Webhook' &&
    listAt(conversion, 'conversionReviewVersions').length === 0;
  return mustGuess ? { ...conversion, conversionReviewVersions: ['v1beta1'] } : withoutEmptyWebhook(conversion);
}

/** A webhook that says nothing is none. */
function withoutEmptyWebhook({ webhook, ...rest }: PlainMap): PlainMap {
  if (webhook === undefined) return rest;
  const saysNothing =
    !isPlainMap(valueAt(webhook, 'clientConfig')) && listAt(webhook, 'conversionReviewVersions').length === 0;
  return saysNothing ? rest : { webhook, ...rest };
}

/** Objects may be stored in each version that has ever been the storage version. */
function noteStorageVersion(object: KubeObject): KubeObject {
  const storage = listAt(object, 'spec', 'versions').find((version) => valueAt(version, 'storage') === true);
  const name = stringAt(storage, 'name');
  const stored = listAt(object, 'status', 'storedVersions');
  if (storage === undefined || stored.includes(name)) return object;
  return withFields(object, 'status', { storedVersions: [...stored, name] });
}

export function defaultDefinition(object: KubeObject, version: string): KubeObject {
  const spec = mapAt(object, 'spec');
  const isBeta = version === 'v1beta1';
  const versioned = isBeta ? defaultVersions(spec) : spec;
  const defaulted = withFields({ ...object, spec: versioned }, 'spec', {
    names: defaultNames(mapAt(spec, 'names')),
    conversion: defaultConversion(spec['conversion'], version),
    ...(isBeta
      ? {
          scope: stringAt(spec, 'scope') || 'Namespaced',
          preserveUnknownFields: valueAt(spec, 'preserveUnknownFields') ?? true,
        }
      : {}),
  });
  // Who creates the definition owns what it implies.
  return listAt(object, 'status', 'storedVersions').length === 0 ? noteStorageVersion(defaulted) : defaulted;
}

/** What the names controller fills in, before it has. */
const UNESTABLISHED = { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: null };

export function prepareDefinition(object: KubeObject): KubeObject {
  return noteStorageVersion({ ...object, status: UNESTABLISHED });
}

/** What has removed the objects of a terminating definition says so in its status and takes its finalizer away at once. */
export function prepareDefinitionStatus(object: KubeObject, old: KubeObject): KubeObject {
  return withFields(keepSpecAndMetadata(object, old), 'metadata', { finalizers: object.metadata.finalizers });
}

export function prepareDefinitionUpdate(object: KubeObject, old: KubeObject): KubeObject {
  return noteStorageVersion(keepStatus(object, old));
}
