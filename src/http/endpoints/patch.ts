import { decodeObject } from '../../api/codec/json-decode';
import { invalid } from '../../api/errors/field-error';
import { badRequest, invalidObject, StatusError } from '../../api/errors/status-error';
import { parseApiVersion, type JsonObject, type JsonValue, type KubeObject } from '../../api/object';
import { readBody } from '../body';
import { mediaTypeOf, reportStrict } from '../decode';
import type { Endpoint, EndpointDependencies, ResourceRequest } from '../dependencies';
import { APPLY_PATCH, STRATEGIC_MERGE_PATCH, patchers } from '../patchers';
import { entryReply } from '../reply';
import { wireFormOf } from '../wire-form';
import { managerName, parseWriteOptions, type WriteOptions } from '../write-options';
import { parseAppliedObject } from './applied-object';
import { changeObject, type Change } from './change';
import { checkName } from './decode-request';

/** Changes an object by one of the patch formats, or by server-side apply. */
export const patchObject: Endpoint = async (request, dependencies) => {
  const { context, served } = request;
  const mediaType = mediaTypeOf(context.request.headers['content-type']);
  const body = await readBody(context);
  const options = parseWriteOptions(context.info.query, 'PatchOptions', mediaType === APPLY_PATCH);
  context.requestObject = body;
  const change =
    mediaType === APPLY_PATCH
      ? applyChange(request, dependencies, body, options)
      : patchChange(request, dependencies, body, mediaType, options);
  const { entry, created } = await changeObject(request, dependencies, options, change);
  return entryReply(created ? 201 : 200, entry, served);
};

function patchChange(
  request: ResourceRequest,
  { fieldOwnership }: EndpointDependencies,
  body: Buffer,
  mediaType: string,
  options: WriteOptions,
): Change {
  const patcher = patchers.get(mediaType);
  if (patcher === undefined) throw new Error(`no patcher for ${mediaType}`);
  const { context, served } = request;
  const { info } = context;
  const manager = managerName(options, context.request.headers['user-agent']);
  return {
    compute: (live) => {
      if (live === undefined) throw new Error('a patch has nothing to change');
      const patched = patcher(live as unknown as JsonObject, body, served.type);
      // A strategic patch is made on the type: what it says of kind and apiVersion counts for nothing.
      const { kind, apiVersion } = live;
      const document = mediaType === STRATEGIC_MERGE_PATCH ? { ...patched, kind, apiVersion } : patched;
      const updated = decodePatched(request, document, options);
      checkName(updated, info.name, served.definition.namespaced ? info.namespace : '');
      return fieldOwnership?.trackUpdate({ served, live, updated, manager }) ?? updated;
    },
    retryOnConflict: true,
  };
}

/** What a patch made must be an object of the same kind; the document it made is shown to whom it is not. */
function decodePatched(request: ResourceRequest, patched: JsonValue, options: WriteOptions): KubeObject {
  const { kind, apiVersion } = wireFormOf(request.served);
  if (typeof patched !== 'object' || patched === null || Array.isArray(patched)) {
    throw doesNotFit(patched, `the patched document is no ${kind}`);
  }
  const document = patched as JsonObject;
  if (document.kind !== kind || document.apiVersion !== apiVersion) {
    if (request.served.custom) throw otherCustomKind(document, { kind, apiVersion });
    const found = `${printed(document.apiVersion)}, Kind=${printed(document.kind)}`;
    throw doesNotFit(patched, `the patched document is of ${found}, not of ${apiVersion}, Kind=${kind}`);
  }
  return decodeChanged(request, document, options);
}

/** A custom resource's kind is a field that its validation looks at. */
function otherCustomKind(
  { kind: foundKind, apiVersion: foundVersion, metadata }: JsonObject,
  { kind, apiVersion }: { readonly kind: string; readonly apiVersion: string },
): StatusError {
  const sent = { group: parseApiVersion(printed(foundVersion)).group, kind: printed(foundKind) };
  const name = (metadata as { readonly name?: string } | null | undefined)?.name ?? '';
  return invalidObject(sent, name, [
    ...(foundKind === kind ? [] : [invalid('kind', sent.kind, `must be ${kind}`)]),
    ...(foundVersion === apiVersion ? [] : [invalid('apiVersion', printed(foundVersion), `must be ${apiVersion}`)]),
  ]);
}

function printed(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? '');
}

/** Type check, strict problems and defaults of an object that was put together on the server. */
function decodeChanged({ context, served }: ResourceRequest, document: JsonObject, options: WriteOptions): KubeObject {
  const { kind, apiVersion } = wireFormOf(served);
  const { version } = served.version;
  const { fieldValidation } = options;
  try {
    const { object, unknownFields } = decodeObject(served.type, document, {
      applyDefaults: true,
      collectUnknown: fieldValidation !== 'Ignore',
      kind,
      version,
    });
    const problems = unknownFields.map((path) => `unknown field ${JSON.stringify(path)}`);
    reportStrict(context, problems, { kind: { group: served.version.group, version, kind }, fieldValidation });
    const typed = { ...object, kind, apiVersion };
    return served.definition.applyDefaults?.(typed, version) ?? typed;
  } catch (error) {
    const prefix = `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: `;
    if (!(error instanceof StatusError) || !error.message.startsWith(prefix)) throw error;
    if (error.message.startsWith(`${prefix}strict decoding error`)) throw error;
    throw doesNotFit(document, error.message.slice(prefix.length));
  }
}

/** The 422 of a patch whose result is not of the kind; it belongs to no object. */
function doesNotFit(document: JsonValue, problem: string): StatusError {
  const { reason, field, message } = invalid('patch', JSON.stringify(document), problem);
  return new StatusError(422, 'Invalid', ` "" is invalid: ${field}: ${message}`, {
    causes: [{ reason, message, field }],
  });
}

function applyChange(
  request: ResourceRequest,
  { fieldOwnership }: EndpointDependencies,
  body: Buffer,
  options: WriteOptions,
): Change {
  if (fieldOwnership === undefined) throw badRequest('server-side apply is not enabled');
  const { context, served } = request;
  const { info } = context;
  const namespace = served.definition.namespaced ? info.namespace : '';
  const applied = parseAppliedObject(request, body, options);
  return {
    compute: (live) => {
      const { fieldManager: manager, force } = options;
      const merged = fieldOwnership.apply({ served, live, applied, manager, force });
      checkName(merged, info.name, namespace);
      if (merged === live) return merged;
      return decodeChanged(request, merged as unknown as JsonObject, options);
    },
    retryOnConflict: true,
    createIfMissing: info.subresource === '',
  };
}
