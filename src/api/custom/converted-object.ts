import type { KubeObject, ObjectMeta } from '../object';
import { parseApiVersion } from '../object';
import { validateAnnotations, validateLabels } from '../validation/object-meta';

/** What a conversion webhook may have made of an object: another version of it, with other labels and annotations at most. */

/** `stable.example.com/v1, Kind=CronTab`, as messages name what was to be converted. */
export function groupVersionKindText({ apiVersion = '', kind = '' }: KubeObject): string {
  const { group, version } = parseApiVersion(apiVersion);
  return `${group}/${version}, Kind=${kind}`;
}

type Json = Readonly<Record<string, unknown>>;

function isMap(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Throws an Error, in kube-apiserver's words, for what is no conversion of the object. */
export function checkedConversion(original: KubeObject, answered: unknown, apiVersion: string): KubeObject {
  const problem = (text: string): Error =>
    new Error(`conversion webhook for ${groupVersionKindText(original)} ${text}`);
  if (!isMap(answered)) throw problem('failed: the converted object is no map');
  const found = textOf(answered['apiVersion']);
  if (found !== apiVersion) {
    throw problem(
      `returned invalid object at index 0: invalid groupVersion (expected ${apiVersion}, received ${found})`,
    );
  }
  const kind = textOf(answered['kind']);
  if (kind !== original.kind) {
    throw problem(
      `returned invalid object at index 0: invalid kind (expected ${original.kind ?? ''}, received ${kind})`,
    );
  }
  const { metadata } = answered;
  const other = otherIdentity(original.metadata, isMap(metadata) ? metadata : {});
  if (other !== undefined) throw problem(`returned invalid object: ${other}`);
  if (metadata === undefined) throw problem('returned invalid metadata: missing metadata in converted object');
  if (!isMap(metadata)) {
    throw problem(`returned invalid metadata: invalid metadata of type ${goTypeOf(metadata)} in converted object`);
  }
  let restored: ObjectMeta;
  try {
    restored = restoredMetadata(original.metadata, metadata);
  } catch (error) {
    throw problem(`returned invalid metadata: ${(error as Error).message}`);
  }
  const { kind: _kind, apiVersion: _apiVersion, metadata: _metadata, ...rest } = answered;
  return { kind, apiVersion, metadata: restored, ...rest };
}

function otherIdentity(original: ObjectMeta, metadata: Json): string | undefined {
  for (const [field, word] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['uid', 'UID'],
  ] as const) {
    const before = original[field] ?? '';
    const after = textOf(metadata[field]);
    if (before !== after) return `must have the same ${word}: ${before} != ${after}`;
  }
  return undefined;
}

const CHANGEABLE = ['labels', 'annotations'] as const;

/** All but labels and annotations is the original's, whatever the webhook says of it. */
function restoredMetadata(original: ObjectMeta, answered: Json): ObjectMeta {
  const { labels: _labels, annotations: _annotations, ...kept } = original;
  const changed: { labels?: Readonly<Record<string, string>>; annotations?: Readonly<Record<string, string>> } = {};
  for (const field of CHANGEABLE) {
    const texts = textsOf(answered[field], field);
    if (texts !== undefined) changed[field] = checkedTexts(field, original[field], texts);
  }
  return { ...kept, ...changed };
}

function textsOf(value: unknown, field: string): Readonly<Record<string, string>> | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isMap(value)) throw new Error(`invalid metadata.${field} of type ${goTypeOf(value)} in converted object`);
  for (const [key, text] of Object.entries(value)) {
    if (typeof text !== 'string') {
      throw new Error(`metadata.${field}[${key}] must be a string, but is ${goTypeOf(text)} in converted object`);
    }
  }
  return value as Readonly<Record<string, string>>;
}

function checkedTexts(
  field: (typeof CHANGEABLE)[number],
  before: Readonly<Record<string, string>> | undefined | null,
  after: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const entries = Object.entries(after);
  const isSame =
    entries.length === Object.keys(before ?? {}).length && entries.every(([key, text]) => before?.[key] === text);
  if (isSame) return after;
  const errors = (field === 'labels' ? validateLabels : validateAnnotations)(after, `metadata.${field}`);
  if (errors.length > 0) {
    const texts = errors.map((error) => `${error.field}: ${error.message}`);
    throw new Error(texts.length === 1 ? texts.join() : `[${texts.join(', ')}]`);
  }
  return after;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** As Go prints the type of a JSON value. */
function goTypeOf(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'number':
    case 'bigint':
      return Number.isInteger(Number(value)) ? 'int64' : 'float64';
    default:
      if (value === null) return '<nil>';
      return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}';
  }
}
