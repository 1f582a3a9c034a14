import { forbiddenField, invalid, notSupported, required, tooMany, type FieldError } from '../errors/field-error';
import { deepEqual } from '../kinds/deep-equal';

import type { RequestedVersion } from '../kinds/kind-definition';
import type { KubeObject } from '../object';
import type {
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionStatus,
  CustomResourceDefinitionVersion,
  JSONSchemaProps,
} from '../schema/generated/apiextensions-v1';
import { checkThen } from './check-each';
import { validateConversion } from './custom-conversion';
import {
  definitionVersionLiteral,
  definitionVersionsLiteral,
  validateVersion,
  validateVersionParts,
} from './custom-version';
import { invalidLiteral, stringListLiteral } from './go-literal';
import { validateUnchanged } from './immutable';
import { dns1035LabelProblems, dns1123SubdomainProblems } from './names';
import { checkEach } from './check-each';

const SCOPES = ['Cluster', 'Namespaced'];
const APPROVAL = 'api-approved.kubernetes.io';
const APPROVAL_POLICY = 'see https://github.com/kubernetes/enhancements/pull/1111';
const PROTECTED_DOMAINS = ['.k8s.io', '.kubernetes.io'];
/** The common field of v1beta1, the field of each version, and what messages call it. */
const SHARED_PARTS = [
  { common: 'validation', own: 'schema', plural: 'schemas' },
  { common: 'subresources', own: 'subresources', plural: 'subresources' },
  { common: 'additionalPrinterColumns', own: 'additionalPrinterColumns', plural: 'additionalPrinterColumns' },
] as const;

function specOf(object: KubeObject): CustomResourceDefinitionSpec {
  return object['spec'] ?? {};
}

function statusOf(object: KubeObject): CustomResourceDefinitionStatus {
  return object['status'] ?? {};
}

function oneProblem(field: string, value: string, problems: readonly string[], before = ''): readonly FieldError[] {
  return problems.length === 0 ? [] : [invalid(field, value, before + problems.join(','))];
}

function validateGroup(group: string): readonly FieldError[] {
  if (group === '') return [required('spec.group', '')];
  const problems = dns1123SubdomainProblems(group);
  if (problems.length > 0) return oneProblem('spec.group', group, problems);
  return group.includes('.') ? [] : [invalid('spec.group', group, 'should be a domain with at least one dot')];
}

/**
 * Each version is a resource of its own to discovery and OpenAPI, which say all names of each: a definition of a megabyte would make
 * documents of hundreds. None that people work with has a tenth of these.
 */
const MAX_VERSIONS = 200;
const MAX_MORE_NAMES = 100;

function validateCount(path: string, list: readonly unknown[] | null | undefined, most: number): readonly FieldError[] {
  return (list?.length ?? 0) > most ? [tooMany(path, list?.length ?? 0, most)] : [];
}

function validateNames(names: CustomResourceDefinitionNames, path: string): readonly FieldError[] {
  const { plural = '', singular = '', kind = '', listKind = '', shortNames, categories } = names;
  const mixedCase = 'may have mixed case, but should otherwise match: ';
  const label = (field: string, value: string): readonly FieldError[] =>
    value === '' ? [] : oneProblem(`${path}.${field}`, value, dns1035LabelProblems(value));
  const mixedLabel = (field: string, value: string): readonly FieldError[] =>
    value === '' ? [] : oneProblem(`${path}.${field}`, value, dns1035LabelProblems(value.toLowerCase()), mixedCase);
  return [
    ...label('plural', plural),
    ...label('singular', singular),
    ...mixedLabel('kind', kind),
    ...mixedLabel('listKind', listKind),
    ...validateCount(`${path}.shortNames`, shortNames, MAX_MORE_NAMES),
    ...checkEach(shortNames, (name, index) =>
      oneProblem(`${path}.shortNames[${index}]`, name, dns1035LabelProblems(name)),
    ),
    // Else it could not be told which of the two is meant.
    ...(kind !== '' && kind === listKind
      ? [invalid(`${path}.listKind`, listKind, 'kind and listKind may not be the same')]
      : []),
    ...validateCount(`${path}.categories`, categories, MAX_MORE_NAMES),
    ...checkEach(categories, (category, index) =>
      oneProblem(`${path}.categories[${index}]`, category, dns1035LabelProblems(category)),
    ),
  ];
}

const REQUIRED_NAMES = ['plural', 'singular', 'kind', 'listKind'] as const;

/**
 * What all versions say alike v1beta1 objects must say once. By mistake they may say it for all and for single versions
 * (then the common field is still there), or for each version (then it is null, see the conversion).
 */
function validateExclusive(object: KubeObject): readonly FieldError[] {
  const spec = specOf(object) as Readonly<Record<string, unknown>>;
  const versions = specOf(object).versions ?? [];
  return SHARED_PARTS.flatMap(({ common, own, plural }) => {
    if (spec[common] === undefined) return [];
    const isRepeated = versions.every((version) => deepEqual(version[own], versions[0]?.[own]));
    return [
      ...(spec[common] === null
        ? []
        : [forbiddenField(`spec.${common}`, `top-level and per-version ${plural} are mutually exclusive`)]),
      ...(isRepeated
        ? [
            invalidLiteral(
              'spec.versions',
              definitionVersionsLiteral(versions),
              `per-version ${plural} may not all be set to identical values (top-level ${common} should be used instead)`,
            ),
          ]
        : []),
    ];
  });
}

function validateVersions(versions: readonly CustomResourceDefinitionVersion[] | null | undefined) {
  const list = versions ?? [];
  const literal = definitionVersionsLiteral(versions);
  const isUnique = new Set(list.map(({ name }) => name)).size === list.length;
  return [
    ...validateCount('spec.versions', versions, MAX_VERSIONS),
    ...(isUnique ? [] : [invalidLiteral('spec.versions', literal, 'must contain unique version names')]),
    ...(list.filter(({ storage }) => storage === true).length === 1
      ? []
      : [invalidLiteral('spec.versions', literal, 'must have exactly one version marked as storage version')]),
  ];
}

/** v1beta1 repeats the name of the first version; what remains of the field after conversion contradicts it. */
function validateFirstVersion(object: KubeObject): readonly FieldError[] {
  const { versions } = specOf(object);
  const first = versions?.[0]?.name ?? '';
  const named = (specOf(object) as { readonly version?: string }).version;
  return [
    ...(first === '' ? [] : oneProblem('spec.version', first, dns1035LabelProblems(first))),
    ...(named === undefined ? [] : [invalid('spec.version', named, 'must match the first version in spec.versions')]),
  ];
}

/** What a definition that was made in v1beta1 may go without. */
interface Demands {
  readonly schemas: boolean;
  readonly structure: boolean;
  readonly noDefaults: boolean;
}

function demandsOf(object: KubeObject, requested: RequestedVersion | undefined): Demands {
  const isBeta = requested?.version === 'v1beta1';
  const isPreserving = specOf(object).preserveUnknownFields === true;
  return { schemas: !isBeta, structure: !isBeta || !isPreserving, noDefaults: isBeta };
}

/** What `next` finds once it is known whether the schemas of all versions describe their objects field by field. */
function whenStructureIsKnown(
  object: KubeObject,
  next: (isStructural: boolean) => readonly FieldError[],
): readonly FieldError[] {
  const problems = (structure: boolean) => () =>
    validateVersionParts(specOf(object).versions ?? [], { structure, noDefaults: false });
  return checkThen(problems(true), (all) => checkThen(problems(false), (others) => next(all.length === others.length)));
}

function hasDefault(schema: JSONSchemaProps | null | undefined): boolean {
  if (!schema) return false;
  const { properties, items, additionalProperties, allOf, anyOf, oneOf, not } = schema;
  const parts = [...Object.values(properties ?? {}), items, additionalProperties, allOf, anyOf, oneOf, not].flat();
  return schema.default !== undefined || parts.some((part) => typeof part === 'object' && hasDefault(part));
}

/** Unknown fields could stand where a default belongs. */
function validateKeptDefaults(object: KubeObject, { noDefaults }: Demands): readonly FieldError[] {
  const { preserveUnknownFields, versions } = specOf(object);
  if (noDefaults || preserveUnknownFields !== true) return [];
  return (versions ?? []).some(({ schema }) => hasDefault(schema?.openAPIV3Schema))
    ? [invalid('spec.preserveUnknownFields', true, 'must be false in order to use defaults in the schema')]
    : [];
}

function validateSpec(object: KubeObject, demands: Demands): readonly FieldError[] {
  const { group = '', scope = '', names = {}, versions, conversion, preserveUnknownFields } = specOf(object);
  const list = versions ?? [];
  return [
    ...validateGroup(group),
    ...(scope === '' ? [required('spec.scope', '')] : []),
    ...(scope === '' || SCOPES.includes(scope) ? [] : [notSupported('spec.scope', scope, SCOPES)]),
    ...(demands.schemas
      ? checkEach(list, ({ schema }, index) =>
          schema?.openAPIV3Schema
            ? []
            : [required(`spec.versions[${index}].schema.openAPIV3Schema`, 'schemas are required')],
        )
      : []),
    ...validateKeptDefaults(object, demands),
    ...checkEach(list, (version, index) => validateVersion(version, `spec.versions[${index}]`)),
    ...validateExclusive(object),
    ...validateVersions(versions),
    ...validateFirstVersion(object),
    ...REQUIRED_NAMES.filter((name) => (names[name] ?? '') === '').map((name) => required(`spec.names.${name}`, '')),
    ...validateNames(names, 'spec.names'),
    ...validateVersionParts(list, demands),
    ...(preserveUnknownFields === true && conversion?.strategy === 'Webhook'
      ? [invalid('spec.conversion.strategy', conversion.strategy, 'must be None if spec.preserveUnknownFields is true')]
      : []),
    ...(conversion ? validateConversion(conversion, 'spec.conversion') : []),
  ];
}

function validateStatus(object: KubeObject): readonly FieldError[] {
  return validateNames(statusOf(object).acceptedNames ?? {}, 'status.acceptedNames');
}

function validateStoredVersions(object: KubeObject): readonly FieldError[] {
  const path = 'status.storedVersions';
  const stored = statusOf(object).storedVersions ?? [];
  const versions = specOf(object).versions ?? [];
  const literal = stringListLiteral('[]string', stored);
  if (stored.length === 0) return [invalidLiteral(path, literal, 'must have at least one stored version')];
  const names = new Set(versions.map(({ name }) => name));
  const storage = versions.findLast((version) => version.storage === true);
  return [
    ...checkEach(stored, (name, index) =>
      names.has(name) ? [] : [invalid(`${path}[${index}]`, name, 'must appear in spec.versions')],
    ),
    ...(storage === undefined || stored.includes(storage.name ?? '')
      ? []
      : [
          invalidLiteral(
            path,
            definitionVersionLiteral(storage),
            `must have the storage version ${storage.name ?? ''}`,
          ),
        ]),
  ];
}

function isUrl(text: string): boolean {
  try {
    return new URL(text).host !== '';
  } catch {
    return false;
  }
}

/** The groups of the project are for what has been reviewed, or says that it has not. */
function validateApproval(object: KubeObject): readonly FieldError[] {
  const { group = '' } = specOf(object);
  if (!PROTECTED_DOMAINS.some((domain) => `.${group}`.endsWith(domain))) return [];
  const value = object.metadata.annotations?.[APPROVAL];
  const field = `metadata.annotations[${APPROVAL}]`;
  const rule = `protected groups must have approval annotation "${APPROVAL}"`;
  if (value === undefined || value === '') return [required(field, `${rule}, ${APPROVAL_POLICY}`)];
  return value.startsWith('unapproved') || isUrl(value)
    ? []
    : [invalid(field, value, `${rule} with either a URL or a reason starting with "unapproved", ${APPROVAL_POLICY}`)];
}

function validatePruning(object: KubeObject): readonly FieldError[] {
  const detail = 'cannot set to true, set x-preserve-unknown-fields to true in spec.versions[*].schema instead';
  return specOf(object).preserveUnknownFields === true ? [invalid('spec.preserveUnknownFields', true, detail)] : [];
}

function validateName(object: KubeObject): readonly FieldError[] {
  const { names, group = '' } = specOf(object);
  return (['generateName', 'name'] as const).flatMap((field) => {
    const name = object.metadata[field] ?? '';
    return name === '' || name === `${names?.plural ?? ''}.${group}`
      ? []
      : [invalid(`metadata.${field}`, name, 'must be spec.names.plural+"."+spec.group')];
  });
}

/** All problems of a new definition: its name says which resource it is about. */
export function validateDefinition(object: KubeObject, requested?: RequestedVersion): readonly FieldError[] {
  const isBeta = requested?.version === 'v1beta1';
  return [
    ...validateName(object),
    ...validateSpec(object, demandsOf(object, requested)),
    ...validateStatus(object),
    ...validateStoredVersions(object),
    ...(isBeta ? [] : validateApproval(object)),
    ...(isBeta ? [] : validatePruning(object)),
  ];
}

function isEstablished(object: KubeObject): boolean {
  return (statusOf(object).conditions ?? []).some(({ type, status }) => type === 'Established' && status === 'True');
}

/** Fields by which objects are stored; `scope` and `kind` are fixed as soon as there can be objects. */
function validateFixed(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const [spec, was] = [specOf(object), specOf(old)];
  return [
    ...(isEstablished(old)
      ? [
          ...validateUnchanged(spec.scope, was.scope, 'spec.scope'),
          ...validateUnchanged(spec.names?.kind, was.names?.kind, 'spec.names.kind'),
        ]
      : []),
    ...validateUnchanged(spec.group, was.group, 'spec.group'),
    ...validateUnchanged(spec.names?.plural, was.names?.plural, 'spec.names.plural'),
  ];
}

/** What the old definition does without, the new one may do without. */
export function validateDefinitionUpdate(
  object: KubeObject,
  old: KubeObject,
  requested?: RequestedVersion,
): readonly FieldError[] {
  const demands = demandsOf(object, requested);
  const hadSchemas = (specOf(old).versions ?? []).every(({ schema }) => Boolean(schema?.openAPIV3Schema));
  const isPreserving = specOf(object).preserveUnknownFields === true;
  const isSameGroup = specOf(object).group === specOf(old).group;
  const wasApproved = validateApproval(old).length === 0;
  const isSamePruning = deepEqual(specOf(object).preserveUnknownFields, specOf(old).preserveUnknownFields);
  const specProblems = (structure: boolean): readonly FieldError[] =>
    validateSpec(object, { schemas: demands.schemas && hadSchemas, structure, noDefaults: false });
  return [
    // Pruning needs to know all fields; otherwise a schema that was not structural need not become it.
    ...(isPreserving && demands.structure ? whenStructureIsKnown(old, specProblems) : specProblems(!isPreserving)),
    ...validateFixed(object, old),
    ...validateStatus(object),
    ...validateStoredVersions(object),
    ...(requested?.version !== 'v1beta1' && isSameGroup && wasApproved ? validateApproval(object) : []),
    ...(requested?.version !== 'v1beta1' && !isSamePruning ? validatePruning(object) : []),
  ];
}

/** The controllers write conditions and accepted names; an administrator shortens the list of stored versions. */
export function validateDefinitionStatusUpdate(object: KubeObject): readonly FieldError[] {
  return validateStatus(object);
}
