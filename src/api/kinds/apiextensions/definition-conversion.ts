import type { KubeObject } from '../../object';
import { deepEqual } from '../deep-equal';
import { isPlainMap, listAt, mapAt, stringAt, type PlainMap } from '../field-values';

/**
 * v1beta1 says once for all versions what v1 says for each of them: `validation` for their `schema`, `subresources`,
 * `additionalPrinterColumns`. Versions that differ say it for themselves in both. A definition that does both contradicts
 * itself: it keeps the common field, for validation to refuse; as it refuses one whose versions all say the same, in which
 * the common field becomes null. Selectable fields, which came later, each version says for itself.
 */
type Convert = (value: PlainMap) => PlainMap;

/** The common field of v1beta1, and the field of each version. */
const SHARED = [
  ['validation', 'schema'],
  ['subresources', 'subresources'],
  ['additionalPrinterColumns', 'additionalPrinterColumns'],
] as const;

function without(map: PlainMap, ...names: readonly string[]): PlainMap {
  return Object.fromEntries(Object.entries(map).filter(([name]) => !names.includes(name)));
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
}

/** Renames a field in place, so that the order of fields stays. */
function rename(from: string, to: string): Convert {
  return (map) => Object.fromEntries(Object.entries(map).map(([name, value]) => [name === from ? to : name, value]));
}

function mapItems(value: unknown, convert: Convert): unknown {
  return Array.isArray(value)
    ? (value as readonly unknown[]).map((item) => (isPlainMap(item) ? convert(item) : item))
    : value;
}

function convertColumns(map: PlainMap, convert: Convert): PlainMap {
  const columns = map['additionalPrinterColumns'];
  return columns === undefined ? map : { ...map, additionalPrinterColumns: mapItems(columns, convert) };
}

function conversionToV1({ webhookClientConfig, conversionReviewVersions, ...rest }: PlainMap): PlainMap {
  if (!isGiven(webhookClientConfig) && !isGiven(conversionReviewVersions)) return rest;
  return {
    ...rest,
    webhook: {
      ...(isGiven(webhookClientConfig) ? { clientConfig: webhookClientConfig } : {}),
      conversionReviewVersions: conversionReviewVersions ?? null,
    },
  };
}

function conversionFromV1({ webhook, ...rest }: PlainMap): PlainMap {
  if (!isPlainMap(webhook)) return rest;
  const { clientConfig, conversionReviewVersions } = webhook;
  return {
    ...rest,
    ...(isGiven(clientConfig) ? { webhookClientConfig: clientConfig } : {}),
    ...(isGiven(conversionReviewVersions) ? { conversionReviewVersions } : {}),
  };
}

function convertConversion(spec: PlainMap, convert: Convert): PlainMap {
  return isPlainMap(spec['conversion']) ? { ...spec, conversion: convert(spec['conversion']) } : spec;
}

function versionsOf(spec: PlainMap): readonly PlainMap[] {
  return listAt(spec, 'versions').map((version) => mapAt({ version }, 'version'));
}

/** The common fields go to each version, unless one has its own. */
function spread(spec: PlainMap): PlainMap {
  let versions = versionsOf(spec);
  const spent: string[] = [];
  const repeated: Record<string, null> = {};
  for (const [common, own] of SHARED) {
    const value = spec[common];
    const first = versions[0]?.[own];
    if (!isGiven(value) && isGiven(first) && versions.every((version) => deepEqual(version[own], first))) {
      repeated[common] = null;
    }
    if (!isGiven(value) || versions.some((version) => isGiven(version[own]))) continue;
    versions = versions.map((version) => ({ ...version, [own]: value }));
    spent.push(common);
  }
  const fields = spec['selectableFields'];
  if (isGiven(fields)) {
    versions = versions.map((version) =>
      isGiven(version['selectableFields']) ? version : { ...version, selectableFields: fields },
    );
    spent.push('selectableFields');
  }
  const isRepeated = stringAt(spec, 'version') === '' || stringAt(versions[0], 'name') === spec['version'];
  const rest = { ...without(spec, ...spent, ...(isRepeated ? ['version'] : [])), ...repeated };
  return Array.isArray(spec['versions']) ? { ...rest, versions } : rest;
}

/** What all versions have alike becomes common. */
function gather(spec: PlainMap): PlainMap {
  let versions = versionsOf(spec);
  const common: Record<string, unknown> = {};
  for (const [name, own] of SHARED) {
    const value = versions[0]?.[own];
    if (!isGiven(value) || !versions.every((version) => deepEqual(version[own], value))) continue;
    versions = versions.map((version) => without(version, own));
    common[name] = value;
  }
  const first = stringAt(versions[0], 'name');
  return { ...spec, ...(first === '' ? {} : { version: first }), ...common, versions };
}

export function definitionToV1(object: KubeObject): KubeObject {
  const columnToV1 = rename('JSONPath', 'jsonPath');
  const columns = convertColumns(mapAt(object, 'spec'), columnToV1);
  const versioned = {
    ...columns,
    ...(Array.isArray(columns['versions'])
      ? { versions: versionsOf(columns).map((version) => convertColumns(version, columnToV1)) }
      : {}),
  };
  const spec = convertConversion(spread(versioned), conversionToV1);
  return { ...object, spec: spec['preserveUnknownFields'] === false ? without(spec, 'preserveUnknownFields') : spec };
}

export function definitionFromV1(object: KubeObject): KubeObject {
  const columnFromV1 = rename('jsonPath', 'JSONPath');
  const gathered = convertConversion(gather(mapAt(object, 'spec')), conversionFromV1);
  const columns = convertColumns(gathered, columnFromV1);
  const versions = versionsOf(columns).map((version) => convertColumns(version, columnFromV1));
  const preserveUnknownFields = columns['preserveUnknownFields'] === true;
  return { ...object, spec: { ...columns, versions, preserveUnknownFields } };
}
