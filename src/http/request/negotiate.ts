import { DISCOVERY_GROUP, type AggregatedVersion } from '../../api/discovery/aggregated';
import { notAcceptable, StatusError } from '../../api/errors/status-error';

/** How an answer is written. */
export type Format = 'json' | 'yaml' | 'protobuf';

export const MEDIA_TYPES: Readonly<Record<Format, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
};

/** What the object is turned into before it is written (API concepts, "Alternate representations"). */
export interface Transform {
  readonly kind: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';
  /** `meta.k8s.io/v1` or `meta.k8s.io/v1beta1`. */
  readonly apiVersion: string;
}

export interface Negotiated {
  readonly format: Format;
  readonly transform?: Transform;
  /** The media type's own `pretty=1`. */
  readonly pretty: boolean;
  /** All of discovery in one answer, in this version of apidiscovery.k8s.io. */
  readonly aggregated?: AggregatedVersion;
}

export interface Negotiable {
  readonly formats: readonly Format[];
  /** Tables and PartialObjectMetadata may be asked for. */
  readonly transforms: boolean;
  /** False: only PartialObjectMetadata. */
  readonly tables?: boolean;
  /**
   * The route declares what it produces, and an Accept header that names none of it by its exact text (or all of it
   * by an asterisk) is refused first, with a message of its own. Built-in resources do, custom ones do not.
   */
  readonly declared: boolean;
  /** Declared besides the formats, and refused only after that. */
  readonly alsoDeclared?: string;
  /** Aggregated discovery may be asked for. */
  readonly aggregated?: boolean;
}

export const BUILT_IN: Negotiable = { formats: ['json', 'yaml', 'protobuf'], transforms: true, declared: true };
/** Subresources, and what is only posted: nothing of which there is a list. */
export const BUILT_IN_PART: Negotiable = { ...BUILT_IN, tables: false };
/** Its text is what is sent, whichever of the formats was asked for. */
export const POD_LOG: Negotiable = { ...BUILT_IN_PART, alsoDeclared: 'text/plain' };
export const BUILT_IN_PLAIN: Negotiable = { formats: ['json', 'yaml', 'protobuf'], transforms: false, declared: true };
export const CUSTOM: Negotiable = { formats: ['json', 'yaml'], transforms: true, declared: false };
export const JSON_ONLY: Negotiable = { formats: ['json'], transforms: false, declared: true };
/** `/api` and `/apis`, of which the plain form is judged again as {@link BUILT_IN_PLAIN}. */
export const DISCOVERY: Negotiable = {
  formats: ['json', 'yaml', 'protobuf'],
  transforms: false,
  declared: false,
  aggregated: true,
};
/** Errors: whatever can be had, without a transform. */
const FOR_ERRORS: Negotiable = { formats: ['json', 'yaml', 'protobuf'], transforms: false, declared: false };

const PLAIN_JSON: Negotiated = { format: 'json', pretty: false };
const AGGREGATED_VERSIONS: readonly AggregatedVersion[] = ['v2', 'v2beta1'];
const TABLE_VERSIONS: ReadonlySet<string> = new Set(['v1', 'v1beta1']);
const TRANSFORM_KINDS: ReadonlySet<string> = new Set(['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList']);

/** What `stream` and `sv` may ask for: the one kind of stream there is, and the version of lists' and Status' metadata. */
const STREAM = 'watch';
const META_VERSION = 'v1';

interface Clause {
  readonly type: string;
  readonly subtype: string;
  readonly weight: number;
  readonly parameters: ReadonlyMap<string, string>;
}

/** So much of an Accept header is read, and of what begins in it nothing that ends behind it: each entry of one takes its time. */
const MAX_ACCEPT_LENGTH = 4 * 1024;
/** Clients send few different Accept headers, so that the answer is remembered; the bounds are against those that do not. */
const MAX_REMEMBERED = 256;
const MAX_REMEMBERED_LENGTH = 1024;
const remembered = new WeakMap<Negotiable, Map<string, Negotiated>>();

/** The first acceptable entry by weight, then order. Throws the 406 of the API. */
export function negotiate(accept: string | undefined, negotiable: Negotiable): Negotiated {
  if (accept === undefined || accept === '' || accept === 'application/json') return PLAIN_JSON;
  let known = remembered.get(negotiable);
  if (known === undefined) remembered.set(negotiable, (known = new Map<string, Negotiated>()));
  const before = known.get(accept);
  if (before !== undefined) return before;
  const response = choose(beginningOf(accept), negotiable);
  if (known.size < MAX_REMEMBERED && accept.length <= MAX_REMEMBERED_LENGTH) known.set(accept, response);
  return response;
}

function beginningOf(accept: string): string {
  if (accept.length <= MAX_ACCEPT_LENGTH) return accept;
  return accept.slice(0, Math.max(0, accept.lastIndexOf(',', MAX_ACCEPT_LENGTH)));
}

/** For an error's own answer: falls back to JSON, so that the error is never hidden behind another one. */
export function negotiateError(accept: string | undefined): Negotiated {
  try {
    return negotiate(accept, FOR_ERRORS);
  } catch {
    return PLAIN_JSON;
  }
}

export function unacceptable(mediaTypes: readonly string[]): StatusError {
  return notAcceptable(`only the following media types are accepted: ${mediaTypes.join(', ')}`);
}

function choose(accept: string, negotiable: Negotiable): Negotiated {
  if (negotiable.declared && !namesDeclared(accept, negotiable)) {
    throw new StatusError(406, 'NotAcceptable', '406: Not Acceptable', {});
  }
  for (const clause of parseAccept(accept)) {
    for (const format of negotiable.formats) {
      const response = matches(clause, format) ? accepted(clause, format, negotiable) : undefined;
      if (response !== undefined) return response;
    }
  }
  throw unacceptable(negotiable.formats.map((format) => MEDIA_TYPES[format]));
}

function namesDeclared(accept: string, { formats, alsoDeclared }: Negotiable): boolean {
  return accept.split(',').some((entry) => {
    const semicolon = entry.indexOf(';');
    const mediaType = (semicolon < 0 ? entry : entry.slice(0, semicolon)).trim();
    return (
      mediaType === '*/*' || mediaType === alsoDeclared || formats.some((format) => MEDIA_TYPES[format] === mediaType)
    );
  });
}

function matches({ type, subtype }: Clause, format: Format): boolean {
  if (type === '*') return subtype === '*';
  return type === 'application' && (subtype === '*' || `application/${subtype}` === MEDIA_TYPES[format]);
}

function accepted({ parameters }: Clause, format: Format, negotiable: Negotiable): Negotiated | undefined {
  const { transforms } = negotiable;
  const pretty = parameters.get('pretty') === '1';
  const stream = parameters.get('stream') ?? '';
  // There are no streams of YAML.
  if (stream !== '' && (stream !== STREAM || format === 'yaml')) return undefined;
  const serverVersion = parameters.get('sv') ?? '';
  if (serverVersion !== '' && !(transforms && serverVersion === META_VERSION)) return undefined;
  if (!parameters.has('as') && !parameters.has('g') && !parameters.has('v')) return { format, pretty };
  const kind = parameters.get('as') ?? '';
  const version = parameters.get('v') ?? '';
  if (negotiable.aggregated === true && kind === 'APIGroupDiscoveryList' && parameters.get('g') === DISCOVERY_GROUP) {
    const aggregated = AGGREGATED_VERSIONS.find((one) => one === version);
    return aggregated && { format, pretty, aggregated };
  }
  if (
    !transforms ||
    parameters.get('g') !== 'meta.k8s.io' ||
    !TABLE_VERSIONS.has(version) ||
    !TRANSFORM_KINDS.has(kind)
  ) {
    return undefined;
  }
  if (kind === 'Table' && (format === 'protobuf' || negotiable.tables === false)) return undefined;
  return { format, pretty, transform: { kind: kind as Transform['kind'], apiVersion: `meta.k8s.io/${version}` } };
}

/** In order of preference. Entries that are no media range are left out. */
function parseAccept(accept: string): readonly Clause[] {
  const sorted: Clause[] = [];
  // What is preferred by weight may not be by specificity, so that the order depends on how it is sorted: by insertion,
  // as kube-apiserver does.
  for (const clause of accept.split(',').flatMap(parseClause)) {
    let place = sorted.length;
    while (place > 0 && isPreferred(clause, sorted[place - 1])) place -= 1;
    sorted.splice(place, 0, clause);
  }
  return sorted;
}

/** Heavier ones, and named ones before asterisks whatever their weights are. */
function isPreferred(clause: Clause, other: Clause | undefined): boolean {
  if (other === undefined) return false;
  if (clause.weight > other.weight) return true;
  return (clause.type !== '*' && other.type === '*') || (clause.subtype !== '*' && other.subtype === '*');
}

function parseClause(text: string): readonly Clause[] {
  const [range = '', ...rest] = text.trim().split(';');
  const [type = '', subtype, ...more] = range.split('/').map((part) => part.trim());
  if (more.length > 0 || (subtype === undefined && type !== '*')) return [];
  const parameters = new Map<string, string>();
  let weight = 1;
  for (const parameter of rest) {
    const equals = parameter.indexOf('=');
    if (equals < 0) continue;
    const name = parameter.slice(0, equals).trim();
    const value = parameter.slice(equals + 1);
    if (name === 'q') weight = parseWeight(value);
    else parameters.set(name, value.trim());
  }
  return [{ type, subtype: subtype ?? '*', weight, parameters }];
}

/** What is not a number weighs nothing; it is still taken when nothing else fits. */
function parseWeight(text: string): number {
  return /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : 0;
}

/** The user agents of people: they get indented JSON unless they ask otherwise. */
const HUMAN_AGENTS = ['curl', 'Wget', 'Mozilla/5.0'];
const GO_TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);

/** `pretty` of the query, else of the user agent. */
export function wantsPretty(pretty: string | undefined, userAgent: string | undefined): boolean {
  if (pretty !== undefined && pretty !== '') return GO_TRUE.has(pretty);
  return userAgent !== undefined && HUMAN_AGENTS.some((agent) => userAgent.startsWith(agent));
}
