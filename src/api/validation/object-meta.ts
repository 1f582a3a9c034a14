import { stringifyExact } from '../codec/exact-json';
import { type FieldError, forbiddenField, invalid, printValue, required, tooLong } from '../errors/field-error';
import { checkAfter, checkEach } from './check-each';
import { type ManagedFieldsEntry, type ObjectMeta, type OwnerReference, parseApiVersion } from '../object';
import { keysOf } from '../parts';
import { labelValueProblems, qualifiedNameProblems } from './label-syntax';
import { dns1123LabelProblems } from './names';
import { byteLength } from './syntax-error';

/** Validation of `metadata`, which every kind shares. Lists all problems at once, in the order of the wire. */

const NONE: readonly FieldError[] = [];
export const ANNOTATIONS_MAX_BYTES = 256 * 1024;
const FIELD_MANAGER_MAX_BYTES = 128;

/** What the garbage collector and namespaces put there; every other finalizer of a built-in kind has a domain. */
export const ORPHAN_FINALIZER = 'orphan';
export const FOREGROUND_FINALIZER = 'foregroundDeletion';
const STANDARD_FINALIZERS: readonly string[] = ['kubernetes', ORPHAN_FINALIZER, FOREGROUND_FINALIZER];

export interface ObjectMetaRules {
  readonly namespaced: boolean;
  /** The kind's rule for names: the problems' texts. */
  readonly validateName: (name: string, prefix: boolean) => readonly string[];
  /** Custom resources may have finalizers without a domain. */
  readonly unqualifiedFinalizers: boolean;
}

/** Problems of an object's metadata, whether it is new or changed; `path` is `metadata` for the object's own. */
export function validateObjectMeta(meta: ObjectMeta, rules: ObjectMetaRules, path = 'metadata'): readonly FieldError[] {
  return [
    ...validateNames(meta, rules.validateName, path),
    ...validateNamespace(meta.namespace ?? '', rules.namespaced, path),
    ...(meta.generation !== undefined && meta.generation < 0
      ? [invalid(`${path}.generation`, meta.generation, 'must be greater than or equal to 0')]
      : []),
    ...validateLabels(meta.labels, `${path}.labels`),
    ...validateAnnotations(meta.annotations, `${path}.annotations`),
    ...validateOwnerReferences(meta.ownerReferences, `${path}.ownerReferences`),
    ...validateFinalizers(meta.finalizers, `${path}.finalizers`),
    ...(rules.unqualifiedFinalizers ? [] : validateFinalizerDomains(meta.finalizers, `${path}.finalizers`)),
    ...validateManagedFields(meta.managedFields, `${path}.managedFields`),
  ];
}

function validateNames(
  { name = '', generateName = '' }: ObjectMeta,
  validateName: ObjectMetaRules['validateName'],
  path: string,
): readonly FieldError[] {
  const prefixErrors =
    generateName === ''
      ? []
      : validateName(generateName, true).map((problem) => invalid(`${path}.generateName`, generateName, problem));
  const nameErrors =
    name === ''
      ? [required(`${path}.name`, 'name or generateName is required')]
      : validateName(name, false).map((problem) => invalid(`${path}.name`, name, problem));
  return [...prefixErrors, ...nameErrors];
}

function validateNamespace(namespace: string, namespaced: boolean, path: string): readonly FieldError[] {
  const field = `${path}.namespace`;
  if (!namespaced) return namespace === '' ? [] : [forbiddenField(field, 'not allowed on this type')];
  if (namespace === '') return [required(field, '')];
  return dns1123LabelProblems(namespace).map((problem) => invalid(field, namespace, problem));
}

export function validateLabels(labels: ObjectMeta['labels'], path: string): readonly FieldError[] {
  if (!labels) return NONE;
  return checkEach(keysOf(labels), (key) => {
    const value = labels[key] as string;
    const ofKey = qualifiedNameProblems(key);
    const ofValue = labelValueProblems(value);
    if (ofKey.length === 0 && ofValue.length === 0) return NONE;
    return [
      ...ofKey.map((problem) => invalid(path, key, problem)),
      ...ofValue.map((problem) => invalid(path, value, problem)),
    ];
  });
}

/** Keys may be in upper case throughout, unlike those of labels; values are free, their total size is not. */
export function validateAnnotations(annotations: ObjectMeta['annotations'], path: string): readonly FieldError[] {
  if (!annotations) return NONE;
  let bytes = 0;
  return [
    ...checkEach(keysOf(annotations), (key) => {
      bytes += byteLength(key) + byteLength(annotations[key] as string);
      const problems = qualifiedNameProblems(key.toLowerCase());
      return problems.length === 0 ? NONE : problems.map((problem) => invalid(path, key, problem));
    }),
    ...checkAfter(() => (bytes > ANNOTATIONS_MAX_BYTES ? [tooLong(path, ANNOTATIONS_MAX_BYTES)] : NONE)),
  ];
}

/** Events come and go too quickly to own anything. */
function isBannedOwner({ apiVersion, kind }: OwnerReference): boolean {
  return kind === 'Event' && apiVersion === 'v1';
}

/** The wire shows an owner as Go prints the struct. */
function printOwner(owner: OwnerReference): string {
  const flag = (value: boolean | undefined): string => (value === undefined ? '(*bool)(nil)' : `(*bool)(${value})`);
  const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = owner;
  const fields = `APIVersion:${quote(apiVersion)}, Kind:${quote(kind)}, Name:${quote(name)}, UID:${quote(uid)}`;
  return `v1.OwnerReference{${fields}, Controller:${flag(controller)}, BlockOwnerDeletion:${flag(blockOwnerDeletion)}}`;
}

function quote(text: string | undefined): string {
  return JSON.stringify(text ?? '');
}

function rawInvalid(field: string, printed: string, detail: string): FieldError {
  return { reason: 'FieldValueInvalid', field, message: `Invalid value: ${printed}: ${detail}` };
}

export function validateOwnerReferences(
  owners: readonly OwnerReference[] | undefined,
  path: string,
): readonly FieldError[] {
  let controller: string | undefined;
  let shown: string | undefined;
  return checkEach(owners, (owner) => {
    const errors = validateOwnerReference(owner, path);
    if (owner.controller !== true) return errors;
    const current = `${owner.kind}/${owner.name}`;
    if (controller === undefined) {
      controller = current;
      return errors;
    }
    const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${current}`;
    shown ??= printValue(owners);
    return [...errors, rawInvalid(path, shown, detail)];
  });
}

function validateOwnerReference(owner: OwnerReference, path: string): readonly FieldError[] {
  const { apiVersion = '', kind = '', name = '', uid = '' } = owner as Partial<OwnerReference>;
  const { group, version } =
    apiVersion.split('/', 3).length > 2 ? { group: '', version: '' } : parseApiVersion(apiVersion);
  const errors: FieldError[] = [];
  if (version === '') errors.push(invalid(`${path}.apiVersion`, apiVersion, 'version must not be empty'));
  if (kind === '') errors.push(invalid(`${path}.kind`, kind, 'kind must not be empty'));
  if (name === '') errors.push(invalid(`${path}.name`, name, 'name must not be empty'));
  if (uid === '') errors.push(invalid(`${path}.uid`, uid, 'uid must not be empty'));
  if (isBannedOwner(owner)) {
    const detail = `${group}/${version}, Kind=${kind} is disallowed from being an owner`;
    errors.push(rawInvalid(path, printOwner(owner), detail));
  }
  return errors;
}

function printStrings(texts: readonly string[]): string {
  return `[]string{${texts.map(quote).join(', ')}}`;
}

function validateFinalizers(finalizers: readonly string[] | undefined, path: string): readonly FieldError[] {
  const names = finalizers ?? [];
  const errors = checkEach(names, (name) => {
    const problems = qualifiedNameProblems(name);
    return problems.length === 0 ? NONE : problems.map((problem) => invalid(path, name, problem));
  });
  return names.includes(ORPHAN_FINALIZER) && names.includes(FOREGROUND_FINALIZER)
    ? [
        ...errors,
        rawInvalid(
          path,
          printStrings(names),
          `finalizer ${ORPHAN_FINALIZER} and ${FOREGROUND_FINALIZER} cannot be both set`,
        ),
      ]
    : errors;
}

/** A finalizer names its owner by a domain, unless it is one of the standard ones. */
export function validateFinalizerDomains(
  finalizers: readonly string[] | undefined,
  path: string,
): readonly FieldError[] {
  return checkEach(finalizers, (name, index) =>
    name.includes('/') || STANDARD_FINALIZERS.includes(name)
      ? NONE
      : [invalid(`${path}[${index}]`, name, 'name is neither a standard finalizer name nor is it fully qualified')],
  );
}

function validateManagedFields(
  entries: readonly ManagedFieldsEntry[] | undefined,
  path: string,
): readonly FieldError[] {
  return checkEach(entries, (entry, index) => {
    const field = `${path}[${index}]`;
    const errors: FieldError[] = [];
    if (entry.operation !== 'Apply' && entry.operation !== 'Update') {
      errors.push(invalid(`${field}.operation`, entry.operation ?? '', 'must be `Apply` or `Update`'));
    }
    if (entry.fieldsType !== undefined && entry.fieldsType !== 'FieldsV1') {
      errors.push(invalid(`${field}.fieldsType`, entry.fieldsType, 'must be `FieldsV1`'));
    }
    if (byteLength(entry.manager ?? '') > FIELD_MANAGER_MAX_BYTES) {
      errors.push(tooLong(`${field}.manager`, FIELD_MANAGER_MAX_BYTES));
    }
    return errors;
  });
}

/** Problems of the change from `old` to `meta` as it would be stored: what may not change, did, or what is there is wrong. */
export function validateObjectMetaUpdate(meta: ObjectMeta, old: ObjectMeta, path = 'metadata'): readonly FieldError[] {
  return [
    ...validateObjectMetaChange(meta, old, path),
    ...validateLabels(meta.labels, `${path}.labels`),
    ...validateAnnotations(meta.annotations, `${path}.annotations`),
    ...validateOwnerReferences(meta.ownerReferences, `${path}.ownerReferences`),
    ...validateManagedFields(meta.managedFields, `${path}.managedFields`),
  ];
}

/** The same without what {@link validateObjectMeta} finds too. */
export function validateObjectMetaChange(meta: ObjectMeta, old: ObjectMeta, path = 'metadata'): readonly FieldError[] {
  return [
    ...(old.deletionTimestamp ? validateNoNewFinalizers(meta, old, `${path}.finalizers`) : []),
    ...((meta.generation ?? 0) < (old.generation ?? 0)
      ? [invalid(`${path}.generation`, meta.generation ?? 0, 'must not be decremented')]
      : []),
    ...immutable(`${path}.name`, meta.name ?? '', old.name ?? ''),
    ...immutable(`${path}.namespace`, meta.namespace ?? '', old.namespace ?? ''),
    ...immutable(`${path}.uid`, meta.uid ?? '', old.uid ?? ''),
    ...immutable(`${path}.creationTimestamp`, meta.creationTimestamp, old.creationTimestamp, printTime),
    ...immutable(`${path}.deletionTimestamp`, meta.deletionTimestamp, old.deletionTimestamp, printTime),
    ...immutable(
      `${path}.deletionGracePeriodSeconds`,
      meta.deletionGracePeriodSeconds,
      old.deletionGracePeriodSeconds,
      String,
    ),
  ];
}

/** An update that overwrites whatever stands there is refused. */
export function validateVersioned({ resourceVersion = '' }: ObjectMeta, path = 'metadata'): readonly FieldError[] {
  return resourceVersion === '' ? [invalid(`${path}.resourceVersion`, '', 'must be specified for an update')] : [];
}

function immutable<T>(
  field: string,
  value: T,
  old: T,
  print: (value: T) => string = quoteValue,
): readonly FieldError[] {
  return (value ?? undefined) === (old ?? undefined) ? [] : [rawInvalid(field, print(value), 'field is immutable')];
}

function quoteValue(value: unknown): string {
  return stringifyExact(value ?? null);
}

/** `2001-02-03 04:05:06 +0000 UTC`, as the wire prints a time in a message. */
function printTime(time: string | null | undefined): string {
  return time ? `${time.replace('T', ' ').replace(/Z$/, '')} +0000 UTC` : 'null';
}

function validateNoNewFinalizers(meta: ObjectMeta, old: ObjectMeta, field: string): readonly FieldError[] {
  const before = new Set(old.finalizers ?? []);
  const added = (meta.finalizers ?? []).filter((name) => !before.has(name));
  if (added.length === 0) return [];
  const printed = printStrings([...new Set(added)].sort());
  return [
    forbiddenField(
      field,
      `no new finalizers can be added if the object is being deleted, found new finalizers ${printed}`,
    ),
  ];
}
