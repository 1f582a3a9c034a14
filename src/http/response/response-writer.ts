import { stringifyExact } from '../../api/codec/exact-json';
import { printJson } from '../../api/codec/json-print';
import { printYaml } from '../../api/codec/yaml-print';
import { encodeEnvelope } from '../../api/codec/protobuf-envelope';
import { encodeMessage } from '../../api/codec/protobuf-encode';
import { encodeMessageSteps } from '../../api/codec/protobuf-encode-steps';
import { notAcceptable, type Status } from '../../api/errors/status-error';
import { filledInParts } from '../../api/fill-later';
import type { MaybePromise } from '../../api/maybe-promise';
import { parseApiVersion, type KubeObject, type ListMeta, type ObjectMeta } from '../../api/object';
import { isLarge, type Steps } from '../../api/parts';
import type { Schema, StructType } from '../../api/schema/model';
import type { ListResult } from '../../registry/types';
import type { CacheEntry } from '../../storage/cache/cache';
import { isCompressed, writeGzipped, writePieces, writeReady, type BodyWrite } from './body-writer';
import type { RequestContext } from '../request/context';
import type { ServedResource } from '../../resources/served-resource';
import type { HttpResponse } from '../transport/exchange';
import type { ServerFeatures } from '../request/features';
import { GzipFile } from './lists/gzip/gzip-file';
import { gzipListPieces } from './lists/gzip/gzip-list';
import { bodyPieces, listPieces, storedBytes, type ListParts } from './lists/list-parts';
import { goType, isLargeYaml, ListRepresenter, type ListWork } from './lists/list-representation';
import { MEDIA_TYPES, wantsPretty, type Negotiated, type Transform } from '../request/negotiate';
import type { LargeBodies } from '../request/large-bodies';
import { lengthOf } from './pieces';
import type { ApiResponse, WireObject } from './api-response';
import { writeHead } from './response-head';
import { partialObject } from './partial-object';
import { recordedList, recordedObject } from './recorded-response';
import { TableWriter, parseIncludeObject, type IncludeObject } from './table';
import { wireFormOf, type WireForm } from './wire-form';

const NEWLINE = Buffer.from('\n');
/** Up to here a list is made as a whole and says how long it is; longer ones are made as the client takes them. */
const WHOLE_LIST_ENTRIES = 100;
/** From here on an answer is not made while memory is tight. */
const LARGE_ENTRY_BYTES = 64 * 1024;
const WHOLE_LIST_BYTES = 1024 * 1024;

export interface WriterDependencies {
  readonly schema: Schema;
  readonly now: () => number;
  readonly features: Pick<ServerFeatures, 'remainingItemCount'>;
  readonly bodies: LargeBodies;
}

/**
 * The one writer: turns what an endpoint answered into the bytes that the client accepts. Stored objects of a version
 * that has the stored shape are written from their bytes. What is written at once returns no promise.
 */
export function writeResponse(
  context: RequestContext,
  response: ApiResponse,
  negotiated: Negotiated,
  dependencies: WriterDependencies,
): MaybePromise<void> {
  if (response.type === 'streamed') return;
  const making = response.type === 'entry' ? preparation(response, context, negotiated) : undefined;
  if (making !== undefined) return writeWhenMade(making, context, response, negotiated, dependencies);
  if (context.isHeldBack(isLargeResponse(response))) return writeWhenRoom(context, response, negotiated, dependencies);
  return writeNow(context, response, negotiated, dependencies);
}

/** What has to be made of a large entry before it can be written as it is wanted. */
function preparation(
  { entry, served }: Extract<ApiResponse, { type: 'entry' }>,
  { info, request }: RequestContext,
  { format, transform, pretty }: Negotiated,
): Steps<void> | undefined {
  // What stands in no store has no size before it is printed.
  const printing = entry.prepareBody();
  if (printing === undefined && entry.size <= LARGE_ENTRY_BYTES) return undefined;
  if (served.version.convert !== undefined) return inVersion(printing, wireFormOf(served).hold(entry));
  const asObject =
    format === 'protobuf' ||
    transform !== undefined ||
    pretty ||
    wantsPretty(info.query.first('pretty'), request.headers['user-agent']);
  return asObject ? (entry.prepare() ?? printing) : printing;
}

/** What is made of the stored form first, and of the version then. */
function inVersion(stored: Steps<void> | undefined, converted: Steps<void> | undefined): Steps<void> | undefined {
  if (stored === undefined || converted === undefined) return stored ?? converted;
  return (function* () {
    yield* stored;
    yield* converted;
  })();
}

/** The body of a large object, a part at a time. */
async function writeWhenMade(
  making: Steps<void>,
  context: RequestContext,
  content: ApiResponse,
  negotiated: Negotiated,
  dependencies: WriterDependencies,
): Promise<void> {
  try {
    await context.takeSteps(making);
    const { response } = context;
    if (!response.destroyed && !response.headersSent) await writeResponse(context, content, negotiated, dependencies);
  } finally {
    if (content.type === 'entry') wireFormOf(content.served).release(content.entry);
  }
}

function writeNow(
  context: RequestContext,
  response: Exclude<ApiResponse, { type: 'streamed' }>,
  negotiated: Negotiated,
  dependencies: WriterDependencies,
): MaybePromise<void> {
  const writer = new ResponseWriter(context, negotiated, dependencies);
  context.statusCode = response.type === 'list' ? 200 : response.code;
  sendWarnings(context);
  switch (response.type) {
    case 'entry':
      return writer.entry(response.code, response.entry, response.served);
    case 'list':
      return writer.list(response.result, response.served);
    case 'object':
      return writer.anyObject(response.code, response.object, response.struct, response.served);
    case 'bytes':
      return writer.bytes(response);
    case 'empty':
      writeHead(context.response, response.code, response.headers);
      context.response.end();
  }
}

/** Before it is made: what is made of other objects is not known yet. */
function isLargeResponse(response: ApiResponse): boolean {
  return response.type === 'list' || (response.type === 'entry' && response.entry.body.length > LARGE_ENTRY_BYTES);
}

/** Makes nothing for a connection that has not taken what was made for it before. */
async function writeWhenRoom(
  context: RequestContext,
  content: Exclude<ApiResponse, { type: 'streamed' }>,
  negotiated: Negotiated,
  dependencies: WriterDependencies,
): Promise<void> {
  await context.room(isLargeResponse(content));
  const { response } = context;
  // Meanwhile the client may have left, or the deadline may have been answered.
  if (!response.destroyed && !response.headersSent) await writeNow(context, content, negotiated, dependencies);
}

/** One header per warning, of code 299 and without an agent's name. */
export function sendWarnings({ response, warnings }: RequestContext): void {
  if (warnings.length === 0) return;
  response.setHeader(
    'Warning',
    warnings.map((text) => `299 - "${text.replaceAll(/["\\]/g, '\\$&').replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '?')}"`),
  );
}

class ResponseWriter {
  private readonly response: HttpResponse;

  constructor(
    private readonly context: RequestContext,
    private readonly negotiated: Negotiated,
    private readonly dependencies: WriterDependencies,
  ) {
    this.response = context.response;
  }

  entry(code: number, entry: CacheEntry, served: ServedResource): MaybePromise<void> {
    const { transform, format } = this.negotiated;
    const form = wireFormOf(served);
    if (transform !== undefined) {
      return this.transformed(code, entry.object, () => form.object(entry), served, transform);
    }
    if (this.context.audit?.recordsResponse === true) this.context.responseText = recordedObject(form, entry);
    if (format === 'json' && !this.pretty) {
      const body = form.body(entry);
      return this.whole(code, [form.objectHead, body, NEWLINE], true);
    }
    if (format === 'protobuf') {
      if (entry.body.length > LARGE_ENTRY_BYTES) return this.largeMessage(code, entry, form);
      const raw = form.message(entry, encodeMessage);
      const envelope = encodeEnvelope({ apiVersion: form.apiVersion, kind: form.kind, raw });
      return this.whole(code, [asBuffer(envelope)], false);
    }
    if (format === 'yaml' && isLargeYaml(entry)) return this.largeYaml(code, [form.objectHead, form.body(entry)]);
    return this.plainObject(code, form.object(entry), served.type);
  }

  private async largeYaml(code: number, json: readonly Buffer[]): Promise<void> {
    const { context } = this;
    const whole = Buffer.concat(json);
    // What will be made of it counts from now on: other requests of the client come before it is there.
    context.memory.hold(whole.length);
    const yaml = await this.dependencies.bodies.printYaml(context, whole);
    if (context.finished) return;
    context.memory.release(whole.length);
    await this.whole(code, [yaml], false);
  }

  private async largeMessage(code: number, entry: CacheEntry, form: WireForm): Promise<void> {
    const { context } = this;
    const { apiVersion, kind } = form;
    const raw = await context.takeSteps(form.messageSteps(entry, encodeMessageSteps));
    await this.whole(code, [asBuffer(encodeEnvelope({ apiVersion, kind, raw }))], false);
  }

  anyObject(
    code: number,
    object: WireObject,
    struct: StructType | undefined,
    served: ServedResource | undefined,
  ): MaybePromise<void> {
    const { transform } = this.negotiated;
    if (transform === undefined) return this.plainObject(code, object, struct);
    const kubeObject = object as KubeObject;
    if (served === undefined) {
      return struct === undefined
        ? this.plainObject(code, object, struct)
        : this.metadataOnly(code, kubeObject.metadata, transform, goTypeOf(struct));
    }
    return this.transformed(code, kubeObject, () => kubeObject, served, transform);
  }

  list(result: ListResult, served: ServedResource): MaybePromise<void> {
    const entries = Array.isArray(result.entries) ? (result.entries as readonly CacheEntry[]) : [...result.entries];
    const { remainingItemCount: remaining, ...page } = result;
    const counted = remaining === undefined || !this.dependencies.features.remainingItemCount ? page : result;
    const { format, transform } = this.negotiated;
    const { schema, now, bodies } = this.dependencies;
    const work: ListWork = {
      printYaml: (json) => bodies.printYaml(this.context, json),
      takeSteps: (steps) => this.context.takeSteps(steps),
    };
    const representer = new ListRepresenter(
      served,
      { format, transform, pretty: this.pretty, includeObject: this.includeObject, now: now() },
      schema,
      work,
    );
    const metadata = listMetadata(counted, served.custom && transform === undefined);
    if (this.context.audit?.recordsResponse === true) {
      const inJson = {
        format: 'json',
        transform,
        pretty: false,
        includeObject: this.includeObject,
        now: now(),
      } as const;
      const recorder = new ListRepresenter(served, inJson, schema, work);
      return recordedList(entries, () => recorder.parts(entries, metadata), this.context).then((text) => {
        this.context.responseText = text;
        return this.listParts(representer.parts(entries, metadata));
      });
    }
    return this.listParts(representer.parts(entries, metadata));
  }

  bytes(response: Extract<ApiResponse, { type: 'bytes' }>): MaybePromise<void> {
    for (const [name, value] of Object.entries(response.headers ?? {})) this.response.setHeader(name, value);
    const body = typeof response.body === 'string' ? Buffer.from(response.body) : response.body;
    const { code, contentType } = response;
    const write = { ...this.write(code, body.length), contentType };
    return this.wrote(writeReady(this.response, write, [body], body === response.body));
  }

  private wrote(bytes: MaybePromise<number>): MaybePromise<void> {
    if (typeof bytes !== 'number') return bytes.then((total) => void this.wrote(total));
    this.context.responseBytes = bytes;
  }

  private get pretty(): boolean {
    const { query } = this.context.info;
    return this.negotiated.pretty || wantsPretty(query.first('pretty'), this.context.request.headers['user-agent']);
  }

  private get acceptEncoding(): string | readonly string[] | undefined {
    return this.context.request.headers['accept-encoding'];
  }

  private transformed(
    code: number,
    stored: KubeObject,
    inVersion: () => KubeObject,
    served: ServedResource,
    { kind, apiVersion }: Transform,
  ): MaybePromise<void> {
    if (kind !== 'Table') {
      const type = goType(served, served.definition.kind);
      return this.metadataOnly(code, stored.metadata, { kind, apiVersion }, type);
    }
    const table = this.tableWriter(served, apiVersion);
    const { resourceVersion } = stored.metadata;
    const metadata = resourceVersion === undefined ? {} : { resourceVersion };
    const row = (): object => table.rowOf(stored, inVersion);
    if (table.hasLongCells && isLarge(stored))
      return this.largeTable(code, filledInParts(row), (made) => table.table(metadata, [made]));
    return this.plainObject(code, table.table(metadata, [row()]), undefined);
  }

  private async largeTable(code: number, row: Steps<object>, tableOf: (row: object) => WireObject): Promise<void> {
    const made = await this.context.takeSteps(row);
    await this.plainObject(code, tableOf(made), undefined);
  }

  private metadataOnly(
    code: number,
    metadata: ObjectMeta,
    { kind, apiVersion }: Transform,
    type: string,
  ): MaybePromise<void> {
    if (kind === 'PartialObjectMetadata') return this.plainObject(code, partialObject(apiVersion, metadata), undefined);
    throw notAcceptable(`you requested ${kind}, but the requested object is not a list (${type})`);
  }

  private tableWriter(served: ServedResource, apiVersion: string): TableWriter {
    return new TableWriter(served, { apiVersion, includeObject: this.includeObject, now: this.dependencies.now() });
  }

  /** Of tables only; otherwise the parameter is not looked at. */
  private get includeObject(): IncludeObject {
    const text = this.context.info.query.first('includeObject');
    return this.negotiated.transform?.kind === 'Table' ? parseIncludeObject(text) : 'None';
  }

  private plainObject(code: number, object: WireObject, struct: StructType | undefined): MaybePromise<void> {
    this.context.responseObject = object;
    if (this.negotiated.format === 'json' && isLarge(object)) return this.largeJson(code, object);
    const body = encodeObject(object, this.negotiated, this.pretty, this.dependencies.schema, struct);
    return this.whole(code, [body], false);
  }

  private async largeJson(code: number, object: WireObject): Promise<void> {
    const [end, indent] = this.pretty ? ['', 2] : ['\n', 0];
    const { bytes } = await this.context.takeSteps(printJson(object, end, indent));
    await this.whole(code, [bytes], false);
  }

  /** `isShared`: the pieces lie in memory anyway. */
  private whole(code: number, ready: readonly Buffer[], isShared: boolean): MaybePromise<void> {
    return this.wrote(writeReady(this.response, this.write(code, lengthOf(ready)), ready, isShared));
  }

  private listParts(parts: ListParts): MaybePromise<void> {
    let { length } = parts;
    const isInParts = parts.later !== undefined;
    if (!isInParts && length === undefined && isShort(parts)) {
      const whole = [...listPieces(parts)].flat().map(asBuffer);
      length = lengthOf(whole);
      if (!parts.items.shared || !isCompressed(this.write(200, length))) return this.whole(200, whole, false);
    }
    const write = this.write(200, length);
    if (!isInParts && parts.items.shared && isCompressed(write)) return this.gzippedList(write, parts);
    return this.wrote(writePieces(this.response, write, bodyPieces(parts)));
  }

  private async gzippedList(write: BodyWrite, parts: ListParts): Promise<void> {
    const file = new GzipFile();
    await writeGzipped(this.response, write, gzipListPieces(file, parts, this.context.signal));
    this.context.responseBytes = file.length;
  }

  private write<Length extends number | undefined>(
    code: number,
    length: Length,
  ): BodyWrite & { readonly length: Length } {
    const { context, acceptEncoding } = this;
    return { code, contentType: MEDIA_TYPES[this.negotiated.format], length, acceptEncoding, request: context };
  }
}

/** `*autoscaling.Scale` */
function goTypeOf({ name }: StructType): string {
  const [group, , kind] = name.split('.').slice(-3);
  return `*${group}.${kind}`;
}

/** Any object in any format, without transforms. `struct` is found by the object's kind when it is not given. */
export function encodeObject(
  object: WireObject,
  { format }: Negotiated,
  pretty: boolean,
  schema: Schema,
  struct?: StructType,
): Buffer {
  switch (format) {
    case 'json':
      return Buffer.from(pretty ? stringifyExact(object, 2) : `${stringifyExact(object)}\n`);
    case 'yaml':
      return Buffer.from(printYaml(object));
    case 'protobuf':
      return encodeProtobuf(object, schema, struct);
  }
}

function isShort({ entries, items }: ListParts): boolean {
  return entries.length <= WHOLE_LIST_ENTRIES && storedBytes(entries) * items.weight <= WHOLE_LIST_BYTES;
}

function encodeProtobuf(object: WireObject, schema: Schema, struct: StructType | undefined): Buffer {
  const { apiVersion = '', kind = '' } = object as { readonly apiVersion?: string; readonly kind?: string };
  const { group, version } = parseApiVersion(apiVersion);
  const type = struct ?? schema.kind(group, version, kind) ?? (kind === 'Status' ? statusType(schema) : undefined);
  if (type === undefined) throw notAcceptable(`object of kind ${kind} in ${apiVersion} has no Protobuf form`);
  return asBuffer(encodeEnvelope({ apiVersion, kind, raw: encodeMessage(type, object) }));
}

function statusType(schema: Schema): StructType | undefined {
  return schema.message('k8s.io.apimachinery.pkg.apis.meta.v1.Status');
}

/** Custom resources' lists always name their continue token, even when there is none. */
function listMetadata({ revision, continue: token, remainingItemCount }: ListResult, custom: boolean): ListMeta {
  const metadata: { -readonly [Name in keyof ListMeta]: ListMeta[Name] } = {};
  // What is computed for the request has no version.
  if (revision !== 0) metadata.resourceVersion = String(revision);
  if (token !== undefined || custom) metadata.continue = token ?? '';
  if (remainingItemCount !== undefined) metadata.remainingItemCount = remainingItemCount;
  return metadata;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A failure, in whatever format the client accepts. */
export function encodeStatus(status: Status, negotiated: Negotiated, pretty: boolean, schema: Schema): Buffer {
  return encodeObject(status, negotiated, pretty, schema, statusType(schema));
}
