import { decodeObject } from '../../api/codec/json-decode';
import { parseObjectBody } from '../../api/codec/request-body';
import { decodeEnvelope } from '../../api/codec/protobuf-envelope';
import { decodeMessage } from '../../api/codec/protobuf-decode';
import { invalid, notSupported, type FieldError } from '../../api/errors/field-error';
import { badRequest, invalidObject } from '../../api/errors/status-error';
import { apiVersionOf, parseApiVersion } from '../../api/object';
import type { Schema, StructType } from '../../api/schema/model';
import type { DeleteOptions } from '../../registry/types';
import { MAX_POSTED_BYTES, readBody } from './body';
import type { RequestContext } from './context';
import { bodyFormat } from './decode';
import { parseInt64Parameter } from './go-number';
import type { Query } from './query';
import { dryRunProblems } from './write-options';

export interface ParsedDeleteOptions {
  readonly options: DeleteOptions;
  readonly dryRun: boolean;
  /** As admission sees them. */
  readonly object: Readonly<Record<string, unknown>>;
}

/** The wire's DeleteOptions, v1. */
export interface SentDeleteOptions {
  readonly gracePeriodSeconds?: number | bigint;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: string;
  readonly dryRun?: readonly string[];
}

type PropagationPolicy = NonNullable<DeleteOptions['propagationPolicy']>;
const POLICIES: ReadonlySet<string> = new Set<PropagationPolicy>(['Foreground', 'Background', 'Orphan']);

/** From the body, else from the query: a body makes the query count for nothing. Throws 400, 413, 415 and 422. */
export async function parseDeleteOptions(context: RequestContext, schema: Schema): Promise<ParsedDeleteOptions> {
  const body = await readBody(context, MAX_POSTED_BYTES);
  if (body.length === 0) return checkDeleteOptions(fromQuery(context.info.query));
  const sent = fromBody(context, body, schema);
  const { group, version } = context.info;
  context.requestObject = { kind: 'DeleteOptions', apiVersion: apiVersionOf(group, version), ...sent };
  return checkDeleteOptions(sent);
}

/** Refuses what does not go together; also for the options inside an Eviction. */
export function checkDeleteOptions(sent: SentDeleteOptions): ParsedDeleteOptions {
  const { gracePeriodSeconds, preconditions, orphanDependents, propagationPolicy, dryRun = [] } = sent;
  const errors: FieldError[] = [];
  if (propagationPolicy !== undefined) {
    if (orphanDependents !== undefined) {
      errors.push(
        invalid('propagationPolicy', propagationPolicy, 'orphanDependents and deletionPropagation cannot be both set'),
      );
    }
    if (!POLICIES.has(propagationPolicy)) {
      errors.push(notSupported('propagationPolicy', propagationPolicy, ['Foreground', 'Background', 'Orphan', 'nil']));
    }
  }
  errors.push(...dryRunProblems(dryRun));
  if (errors.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors);
  return {
    options: {
      ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
      ...(preconditions === undefined ? {} : { preconditions }),
      ...(orphanDependents === undefined ? {} : { orphanDependents }),
      ...(propagationPolicy === undefined ? {} : { propagationPolicy: propagationPolicy as PropagationPolicy }),
    },
    dryRun: dryRun.length > 0,
    object: { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', ...sent },
  };
}

function fromQuery(query: Query): SentDeleteOptions {
  const gracePeriodSeconds = parseInt64Parameter(query.first('gracePeriodSeconds'));
  const propagationPolicy = query.first('propagationPolicy');
  const dryRun = query.all('dryRun');
  const uid = query.first('uid');
  const resourceVersion = query.first('resourceVersion');
  return {
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(query.has('orphanDependents') ? { orphanDependents: query.flag('orphanDependents') } : {}),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(dryRun.length === 0 ? {} : { dryRun }),
    ...(uid || resourceVersion
      ? { preconditions: { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) } }
      : {}),
  };
}

function fromBody(context: RequestContext, body: Buffer, schema: Schema): SentDeleteOptions {
  const format = bodyFormat(context.request.headers['content-type']);
  const type = optionsType(schema);
  const {
    kind: _kind,
    apiVersion: _apiVersion,
    ...sent
  } = format === 'protobuf' ? fromProtobuf(body, type) : fromText(body, format, type);
  return sent;
}

function optionsType(schema: Schema): StructType {
  const type = schema.message('k8s.io.apimachinery.pkg.apis.meta.v1.DeleteOptions');
  if (type === undefined) throw new Error('the schema has no DeleteOptions');
  return type;
}

/** Clients send them as `v1`, as `meta.k8s.io/v1` and as of the group they delete from. */
function fromText(body: Buffer, format: 'json' | 'yaml', type: StructType): Readonly<Record<string, unknown>> {
  const parsed = parseObjectBody(body, format, 'DeleteOptions');
  const { kind = '', apiVersion = '' } = parsed as { readonly kind?: string; readonly apiVersion?: string };
  checkKind(kind, apiVersion);
  return decodeObject(type, parsed, { applyDefaults: false, collectUnknown: false, kind: 'DeleteOptions' }).object;
}

function fromProtobuf(body: Buffer, type: StructType): Readonly<Record<string, unknown>> {
  const { kind, apiVersion, raw } = decodeEnvelope(body);
  checkKind(kind, apiVersion);
  return decodeMessage(type, raw) as Readonly<Record<string, unknown>>;
}

function checkKind(kind: string, apiVersion: string): void {
  if (kind === '' || kind === 'DeleteOptions') return;
  const { version } = parseApiVersion(apiVersion);
  throw badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a DeleteOptions`);
}
