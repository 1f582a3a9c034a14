import { apiVersionOf, type KubeObject } from '../object';
import { stringAt } from './field-values';
import { ALL_VERBS, type KindDefinition, type ServedVersion, type WrittenVersion } from './kind-definition';
import { dnsSubdomainName } from '../validation/names';

/**
 * Deprecations up to this release are announced. One release behind the API's: what became deprecated with 1.21 is what
 * its clients still have to use, since the replacement came with it, and a warning in every answer is of no use to them.
 */
const DEPRECATIONS_AS_OF = '1.20';

/** When a version of a kind was, or will be, deprecated and removed, and what takes its place. */
export interface Lifecycle {
  readonly deprecated: string;
  readonly removed?: string;
  /** Group version and kind, `apps/v1 Deployment`. */
  readonly replacement?: string;
}

/** A served version; the group is the kind's own unless named. */
export interface VersionInput extends Omit<ServedVersion, 'group' | 'deprecationWarning' | 'removedRelease'> {
  readonly group?: string;
  readonly lifecycle?: Lifecycle;
}

type Defaulted = Omit<KindDefinition, 'kind' | 'resource' | 'namespaced' | 'versions' | 'storage' | 'written'>;

export interface KindInput extends Partial<Defaulted> {
  readonly group: string;
  readonly kind: string;
  readonly resource: string;
  readonly namespaced: boolean;
  /** In order of preference; a plain text is a version of the kind's group in which nothing is special. */
  readonly versions: readonly (string | VersionInput)[];
  /** The version of objects in memory and in the store; absent: the first of `versions`. */
  readonly storageVersion?: string;
  /** The version of the stored bytes where it is another than that of memory; one of `versions`, with a conversion. */
  readonly writtenVersion?: string;
}

function minor(release: string): number {
  return Number(release.slice(release.indexOf('.') + 1));
}

/** `x/v1beta1 Foo is deprecated in v1.16+, unavailable in v1.22+; use x/v1 Foo` (facts: HTTP, deprecation warnings). */
function deprecationWarning(apiVersion: string, kind: string, { deprecated, removed, replacement }: Lifecycle): string {
  const until = removed === undefined ? '' : `, unavailable in v${removed}+`;
  const instead = replacement === undefined ? '' : `; use ${replacement}`;
  return `${apiVersion} ${kind} is deprecated in v${deprecated}+${until}${instead}`;
}

function servedVersion(input: KindInput, version: string | VersionInput): ServedVersion {
  if (typeof version === 'string') return { group: input.group, version };
  const { lifecycle, group = input.group, ...rest } = version;
  if (lifecycle === undefined || minor(lifecycle.deprecated) > minor(DEPRECATIONS_AS_OF)) return { group, ...rest };
  return {
    group,
    ...rest,
    deprecationWarning: deprecationWarning(apiVersionOf(group, version.version), input.kind, lifecycle),
    ...(lifecycle.removed === undefined ? {} : { removedRelease: lifecycle.removed }),
  };
}

function writtenVersion({ group, kind }: KindInput, version: string, served: readonly ServedVersion[]): WrittenVersion {
  const convert = served.find((one) => one.group === group && one.version === version)?.convert;
  if (convert === undefined) throw new Error(`${kind} cannot be written as ${version}: nothing converts it`);
  return { group, version, fromMemory: convert.fromStorage };
}

/** A selectable field that is a text of the object: `textField('spec', 'nodeName')`. */
export function textField(...path: readonly string[]): (object: KubeObject) => string {
  return (object) => stringAt(object, ...path);
}

/**
 * A kind's record with everything that an ordinary kind need not say: all verbs, names that are DNS subdomains, a key
 * named after the resource, unconditional updates, no creation by PUT, a Status as the answer to a delete.
 */
export function defineKind(input: KindInput): KindDefinition {
  const { group, versions, storageVersion, writtenVersion: written, ...rest } = input;
  const served = versions.map((version) => servedVersion(input, version));
  const preferred = served[0];
  if (preferred === undefined) throw new Error(`kind ${input.kind} has no versions`);
  return {
    singular: '',
    shortNames: [],
    categories: [],
    verbs: ALL_VERBS,
    storagePrefix: input.resource,
    validateName: dnsSubdomainName,
    strategy: {},
    metadataOnUpdate: rest.unqualifiedFinalizers === true ? ['change'] : ['change', 'own'],
    selectableFields: {},
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    defaultGarbageCollection: 'background',
    watchCache: true,
    stored: true,
    ...rest,
    // As discovery lists them.
    subresources: [...(rest.subresources ?? [])].sort((left, right) => (left.name < right.name ? -1 : 1)),
    versions: served,
    storage: { group, version: storageVersion ?? preferred.version },
    ...(written === undefined ? {} : { written: writtenVersion(input, written, served) }),
  };
}
