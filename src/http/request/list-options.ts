import { invalidObject } from '../../api/errors/status-error';
import { badRequest } from '../../api/errors/status-error';
import { forbiddenField, notSupported, type FieldError } from '../../api/errors/field-error';
import {
  exactFieldValue,
  checkFieldLabels,
  fieldMatcher,
  parseFieldSelector,
  unknownFieldLabel,
  type FieldRequirement,
} from '../../api/selectors/field-selector';
import { labelMatcher } from '../../api/selectors/label-matcher';
import { parseLabelSelector, type LabelRequirement } from '../../api/selectors/label-selector';
import type { KubeObject } from '../../api/object';
import type { ListOptions, ResourceVersionMatch, Selection } from '../../registry/types';
import type { CacheEntry, FieldInterest } from '../../storage/cache/cache';
import type { ServedResource } from '../../resources/served-resource';
import { ALL_FEATURES, type ServerFeatures } from './features';
import { parseIntParameter } from './go-number';
import type { Query } from './query';
import type { RequestInfo } from './request-info';

/** The query of a list, a watch or a deletecollection. */
export interface CollectionOptions {
  readonly list: ListOptions;
  readonly timeoutSeconds: number | undefined;
  readonly allowWatchBookmarks: boolean;
  readonly sendInitialEvents: boolean;
}

/**
 * Reads and checks the parameters, in the order in which kube-apiserver complains: numbers, selectors, combinations,
 * field labels. Throws 400 and 422 StatusErrors.
 */
export function parseCollectionOptions(
  info: RequestInfo,
  served: ServedResource,
  { listChunking }: Pick<ServerFeatures, 'listChunking'> = ALL_FEATURES,
): CollectionOptions {
  const { query } = info;
  const timeoutSeconds = parseIntParameter(query.first('timeoutSeconds'));
  const limit = parseIntParameter(query.first('limit'));
  const labels = parseLabelSelector(query.first('labelSelector') ?? '');
  const fields = parseFieldSelector(query.first('fieldSelector') ?? '');
  const sendInitialEvents = query.flag('sendInitialEvents');
  // A path with /watch/ is checked as the list that it is without its prefix.
  checkCombination(query, info.verb === 'watch' && (sendInitialEvents || !info.watchPrefix), sendInitialEvents);
  checkLabels(fields, served);

  const resourceVersion = query.first('resourceVersion') ?? '';
  const match = query.first('resourceVersionMatch') ?? '';
  const token = query.first('continue') ?? '';
  const selection = compileSelection(labels, withPathName(fields, info), served);
  return {
    list: {
      ...(resourceVersion === '' ? {} : { resourceVersion }),
      ...(match === '' ? {} : { resourceVersionMatch: match as ResourceVersionMatch }),
      ...(limit === undefined || limit <= 0 || !listChunking ? {} : { limit }),
      ...(token === '' || !listChunking ? {} : { continue: token }),
      ...(selection === undefined ? {} : { selection }),
    },
    timeoutSeconds,
    allowWatchBookmarks: query.flag('allowWatchBookmarks'),
    sendInitialEvents,
  };
}

const MATCHES: ReadonlySet<string> = new Set<ResourceVersionMatch>(['Exact', 'NotOlderThan']);

function checkCombination(query: Query, watch: boolean, sendInitialEvents: boolean): void {
  const match = query.first('resourceVersionMatch') ?? '';
  if (match === '') return;
  const resourceVersion = query.first('resourceVersion') ?? '';
  const errors: FieldError[] = [];
  const forbid = (detail: string): void => void errors.push(forbiddenField('resourceVersionMatch', detail));
  if (watch && sendInitialEvents) {
    if (match !== 'NotOlderThan') errors.push(notSupported('resourceVersionMatch', match, ['NotOlderThan']));
    if (query.first('continue')) forbid('resourceVersionMatch is forbidden when continue is provided');
  } else {
    if (watch) forbid('resourceVersionMatch is forbidden for watch');
    if (resourceVersion === '') forbid('resourceVersionMatch is forbidden unless resourceVersion is provided');
    if (query.first('continue')) forbid('resourceVersionMatch is forbidden when continue is provided');
    if (!MATCHES.has(match)) errors.push(notSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']));
    if (match === 'Exact' && resourceVersion === '0') {
      forbid('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
    }
  }
  if (errors.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors);
}

/** Labels beyond the two that every kind has. Read from the storage version. */
function ownFieldLabels({
  definition,
  version,
}: ServedResource): Readonly<Record<string, (object: KubeObject) => string>> {
  return version.selectableFields ?? definition.selectableFields;
}

function checkLabels(fields: readonly FieldRequirement[], served: ServedResource): void {
  if (fields.length === 0) return;
  const own = ownFieldLabels(served);
  const hasOwn = served.custom || Object.keys(own).length > 0;
  // Cluster-scoped kinds have it as long as they have no fields of their own: then nothing says which there are.
  const hasNamespace = served.definition.namespaced || served.custom || !hasOwn;
  checkFieldLabels(
    fields,
    (label) =>
      label === 'metadata.name' || (label === 'metadata.namespace' && hasNamespace) || Object.hasOwn(own, label),
    served.definition.unknownFieldLabel ?? ((label) => unknownFieldLabel(label, hasOwn)),
  );
}

/** `/watch/namespaces/a/configmaps/c` selects the name as a field selector would; one that is there must say the same. */
function withPathName(fields: readonly FieldRequirement[], info: RequestInfo): readonly FieldRequirement[] {
  if (!info.watchPrefix || !info.named) return fields;
  if (fields.length > 0 && exactFieldValue(fields, 'metadata.name') !== info.name) {
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  }
  return [...fields, { label: 'metadata.name', operator: '=', value: info.name }];
}

type FieldValues = ReturnType<typeof ownFieldLabels>;

/** Where several fields have to have one value, the one of which there is an index. */
function exactOwnField(
  fields: readonly FieldRequirement[],
  own: FieldValues,
  indexed: string | undefined,
): FieldInterest | undefined {
  let found: FieldInterest | undefined;
  for (const { label, operator, value } of fields) {
    const read = operator === '=' && Object.hasOwn(own, label) ? own[label] : undefined;
    const isIndexed = label === indexed;
    if (read !== undefined && (found === undefined || isIndexed))
      found = { by: 'field', label, read, value, isIndexed };
  }
  return found;
}

/** To match some takes microseconds. */
const MANY_REQUIREMENTS = 100;

function compileSelection(
  labels: readonly LabelRequirement[],
  fields: readonly FieldRequirement[],
  served: ServedResource,
): Selection | undefined {
  if (labels.length === 0 && fields.length === 0) return undefined;
  const name = exactFieldValue(fields, 'metadata.name');
  const own = ownFieldLabels(served);
  const field = exactOwnField(fields, own, served.definition.indexedField);
  return {
    matches: entryMatcher(
      labels.length === 0 ? undefined : labelMatcher(labels),
      fields.length === 0 ? undefined : fieldMatcher(fields),
      own,
    ),
    isLong: labels.length + fields.length > MANY_REQUIREMENTS,
    ...(name === undefined ? {} : { name }),
    ...(field === undefined ? {} : { field }),
  };
}

/** Of a function of its own, so that a watch keeps what it asks of each object, and not what that was made of. */
function entryMatcher(
  hasLabels: ReturnType<typeof labelMatcher> | undefined,
  hasFields: ReturnType<typeof fieldMatcher> | undefined,
  own: FieldValues,
): (entry: CacheEntry) => boolean {
  const read = (entry: CacheEntry, label: string): string | undefined => {
    if (label === 'metadata.name') return entry.name;
    if (label === 'metadata.namespace') return entry.namespace;
    const value = Object.hasOwn(own, label) ? own[label] : undefined;
    return value && entry.field(label, value);
  };
  return (entry) =>
    (hasLabels === undefined || hasLabels(entry)) &&
    (hasFields === undefined || hasFields((label) => read(entry, label)));
}
