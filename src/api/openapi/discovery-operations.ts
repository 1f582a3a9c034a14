import type { KindDefinition } from '../kinds/kind-definition';
import { groupWords, operationId, operationTag, pathPrefix } from './names';
import type { Media, Operation, Payload } from './operations';

const DISCOVERY = { group: '', version: 'v1' };

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/**
 * What tells clients what is served: releases, groups, versions, kinds and the keys of tokens. Of one group version
 * (`wanted`), the list of its kinds alone.
 */
export function discoveryOperations(
  definitions: readonly KindDefinition[],
  wanted?: GroupVersion,
): readonly Operation[] {
  const served = groupVersionsOf(definitions);
  if (wanted !== undefined) {
    const { group, version } = wanted;
    return served.some((other) => other.group === group && other.version === version) ? [kindsOf(wanted)] : [];
  }
  const groups = new Set(served.map(({ group }) => group).filter((group) => group !== ''));
  return [
    read('/api/', 'getCoreAPIVersions', 'core', 'List the versions of the core group', discovery('APIVersions')),
    read('/apis/', 'getAPIVersions', 'apis', 'List the groups that are served', discovery('APIGroupList')),
    ...[...groups].map(groupOf),
    ...served.map(kindsOf),
    read('/version/', 'getCodeVersion', 'version', 'Read the release that is served', 'release', 'json'),
    read(
      '/.well-known/openid-configuration/',
      'getServiceAccountIssuerOpenIDConfiguration',
      'WellKnown',
      'Read how tokens of service accounts are verified',
      'text',
      'issuer',
    ),
    read(
      '/openid/v1/jwks/',
      'getServiceAccountIssuerOpenIDKeyset',
      'openid',
      'Read the public keys of service account tokens',
      'text',
      'keys',
    ),
  ];
}

/** Every group version under which a kind is served, once and in order. */
export function groupVersionsOf(definitions: readonly KindDefinition[]): readonly GroupVersion[] {
  const found = new Map<string, GroupVersion>();
  for (const { versions } of definitions) {
    for (const { group, version } of versions) found.set(`${group}/${version}`, { group, version });
  }
  return [...found.keys()].sort().flatMap((key) => found.get(key) ?? []);
}

function groupOf(group: string): Operation {
  const words = groupWords(group);
  const tag = `${words.charAt(0).toLowerCase()}${words.slice(1)}`;
  return read(`/apis/${group}/`, `get${words}APIGroup`, tag, `List the versions of ${group}`, discovery('APIGroup'));
}

function kindsOf({ group, version }: GroupVersion): Operation {
  return read(
    `${pathPrefix(group, version)}/`,
    operationId('get', group, version, 'APIResources'),
    operationTag(group, version),
    `List the kinds of ${group === '' ? version : `${group}/${version}`}`,
    discovery('APIResourceList'),
  );
}

function discovery(kind: string): Payload {
  return { kind: { ...DISCOVERY, kind } };
}

function read(
  path: string,
  id: string,
  tag: string,
  description: string,
  response: Payload,
  media: Media = 'discovery',
): Operation {
  return {
    path,
    method: 'get',
    id,
    tag,
    description,
    parameters: [],
    bodyRequired: false,
    responses: { 200: response },
    media,
  };
}
