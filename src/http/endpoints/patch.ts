import { decodeObject, type DecodeResult } from '../../api/codec/json-decode';
import { decodeObjectSteps } from '../../api/codec/json-decode-steps';
import { duplicateFields } from '../../api/codec/json-syntax';
import { strictDecodingProblem } from '../../api/codec/request-body';
import { ConversionsInOrder, withConversions } from '../../api/conversion-needed';
import { badRequest, conflict, type StatusError } from '../../api/errors/status-error';
import type { ServedVersion } from '../../api/kinds/kind-definition';
import { isRetiredKind } from '../../api/kinds/retired-kinds';
import { whenKnown, type MaybePromise } from '../../api/maybe-promise';
import { apiVersionOf, parseApiVersion, type JsonObject, type JsonValue, type KubeObject } from '../../api/object';
import { documentDoesNotFit } from '../../api/patch/misfit';
import type { StructType } from '../../api/schema/model';
import { checkIdentity } from '../../registry/identity';
import { readBody } from '../request/body';
import type { RequestContext } from '../request/context';
import { reportStrict } from '../request/decode';
import type { Endpoint, EndpointDependencies, ResourceRequest } from './endpoint';
import type { LargeBodies, TextReading } from '../request/large-bodies';
import { APPLY_PATCH, patchTypeOf, patchers, readPatch, strictPatchProblems, unreadablePatch } from './patchers';
import { entryResponse } from '../response/api-response';
import { wireFormOf } from '../response/wire-form';
import { managerName, parseWriteOptions, type FieldValidation, type WriteOptions } from '../request/write-options';
import { readAppliedObject } from './applied-object';
import { changeObject, type Change } from './change';
import { decodePatched, withDecodeErrors } from './patched-object';
import { withDefaults } from './decode-request';
import { scopeOf } from './resource-request';
import { trackOwners } from './track-owners';

/** Changes an object by one of the patch formats, or by server-side apply. */
export const patchObject: Endpoint = async (request, dependencies) => {
  const { context, served } = request;
  const patchType = patchTypeOf(context.request.headers['content-type']);
  const body = await readBody(context);
  const options = parseWriteOptions(context.info.query, 'PatchOptions', patchType === APPLY_PATCH);
  context.requestObject = body;
  const change =
    patchType === APPLY_PATCH
      ? applyChange(request, dependencies, body, options)
      : patchChange(request, dependencies, body, patchType, options);
  const known = change instanceof Promise ? await change : change;
  const { entry, created } = await changeObject(request, dependencies, options, known);
  return entryResponse(created ? 201 : 200, entry, served);
};

function patchChange(
  request: ResourceRequest,
  dependencies: EndpointDependencies,
  body: Buffer,
  patchType: string,
  options: WriteOptions,
): Change {
  const patcher = patchers.get(patchType);
  if (patcher === undefined) throw new Error(`no patcher for ${patchType}`);
  const { catalogue } = dependencies;
  const { context, served } = request;
  const { info } = context;
  const { fieldValidation } = options;
  const manager = managerName(options, context.request.headers['user-agent']);
  // Read when it is known that there is something to patch, and once for all attempts.
  let reading: MaybePromise<TextReading> | undefined;
  return {
    compute: (live) => {
      if (live === undefined) throw new Error('a patch has nothing to change');
      reading ??= readPatchBody(request, dependencies, body, patchType, fieldValidation);
      return whenKnown(reading, ({ value, duplicates }) => {
        const patch = value as JsonValue;
        const current = live as unknown as JsonObject;
        const patching = context.givesWay
          ? context.takeSteps(patcher.inSteps(current, patch, served.type))
          : patcher(current, patch, served.type);
        return whenKnown(patching, (patched) => {
          const { kind, apiVersion } = wireFormOf(served);
          const problems = fieldValidation === 'Ignore' ? [] : strictPatchProblems(patchType, patch, duplicates);
          const strict: StrictCheck = { fieldValidation, problems, refused: patched.refused };
          const isKnownIn = (version: string): boolean => versionNamed(request, catalogue, version) !== undefined;
          const updated = decodePatched(patched, { kind, apiVersion, custom: served.custom, isKnownIn }, (document) =>
            document.apiVersion === apiVersion
              ? decodeChanged(request, document, strict)
              : decodeOther(request, catalogue, document, strict),
          );
          return whenKnown(updated, (wanted) => {
            checkIdentity(scopeOf(request), info.name, wanted);
            return trackOwners(request, dependencies, live, wanted, manager);
          });
        });
      });
    },
    retryOnConflict: true,
    createIfMissing: false,
  };
}

function readPatchBody(
  { context }: ResourceRequest,
  { bodies }: EndpointDependencies,
  body: Buffer,
  patchType: string,
  fieldValidation: FieldValidation,
): MaybePromise<TextReading> {
  const wantsDuplicates = fieldValidation !== 'Ignore';
  if (bodies.isLarge(body, 'json')) return readLargePatch(context, bodies, body, wantsDuplicates);
  const value = readPatch(patchType, body);
  return { value, duplicates: wantsDuplicates ? duplicateFields(body.toString('utf8')) : [] };
}

async function readLargePatch(
  context: RequestContext,
  bodies: LargeBodies,
  body: Buffer,
  wantsDuplicates: boolean,
): Promise<TextReading> {
  await bodies.begin(context, body);
  try {
    return await bodies.readJson(context, body, wantsDuplicates);
  } catch (error) {
    throw unreadablePatch(error);
  }
}

/** What strict field validation looks at beside the unknown fields. */
interface StrictCheck {
  readonly fieldValidation: FieldValidation;
  /** What is wrong with the body. */
  readonly problems: readonly string[];
  /** The refusal for all that is wrong. */
  readonly refused: (detail: string) => StatusError;
}

/** Another version of the requested kind, in which a patched document may be. */
interface OtherVersion {
  readonly type: StructType;
  readonly version: ServedVersion;
}

function versionNamed(
  { served }: ResourceRequest,
  { schema }: EndpointDependencies['catalogue'],
  apiVersion: string,
): OtherVersion | undefined {
  const { kind, versions } = served.definition;
  const { group, version } = parseApiVersion(apiVersion);
  const found = versions.find((one) => one.group === group && one.version === version);
  const type = found && schema.kind(group, version, kind);
  if (found !== undefined && type !== undefined) return { version: found, type };
  // In versions that are gone the kind had nearly the same fields.
  return isRetiredKind({ group, version, kind }) ? served : undefined;
}

/** Read in the version that the document names, with its defaults, and turned into the requested one. */
function decodeOther(
  request: ResourceRequest,
  catalogue: EndpointDependencies['catalogue'],
  document: JsonObject,
  strict: StrictCheck,
): MaybePromise<KubeObject> {
  const { served } = request;
  const other = versionNamed(request, catalogue, document.apiVersion as string) ?? served;
  return whenKnown(decodeChanged(request, document, strict, other), (object) =>
    wireFormOf(served).convert(other.version.convert?.toStorage(object) ?? object),
  );
}

/**
 * Type check, strict problems and defaults of an object that was put together on the server; of a large one in turns with
 * others.
 */
function decodeChanged(
  request: ResourceRequest,
  document: JsonObject,
  strict: StrictCheck,
  inVersion: OtherVersion = request.served,
): MaybePromise<KubeObject> {
  const { context, served } = request;
  const options = {
    applyDefaults: true,
    collectUnknown: strict.fieldValidation !== 'Ignore',
    kind: served.definition.kind,
    version: inVersion.version.version,
  };
  if (!context.givesWay) {
    return completed(request, decodeObject(inVersion.type, document, options), strict, inVersion);
  }
  return context
    .takeSteps(decodeObjectSteps(inVersion.type, document, options))
    .then((decoded) => completed(request, decoded, strict, inVersion));
}

function completed(
  { context, served }: ResourceRequest,
  { object, unknownFields }: DecodeResult,
  strict: StrictCheck,
  inVersion: OtherVersion,
): MaybePromise<KubeObject> {
  const { kind } = served.definition;
  const { group, version } = inVersion.version;
  const apiVersion = apiVersionOf(group, version);
  const { fieldValidation } = strict;
  const problems = [...strict.problems, ...unknownFields.map((path) => `unknown field ${JSON.stringify(path)}`)];
  reportStrict(context, fieldValidation, problems, () => strict.refused(strictDecodingProblem(problems)));
  return withDefaults(context, served.definition, { ...object, kind, apiVersion }, version);
}

/** What an applied configuration makes of the object is shown as JSON when it does not fit the kind. */
function decodeApplied(
  request: ResourceRequest,
  merged: JsonObject,
  { fieldValidation }: WriteOptions,
): MaybePromise<KubeObject> {
  const refused = (detail: string): StatusError => documentDoesNotFit(merged, detail);
  return withDecodeErrors(
    () => decodeChanged(request, merged, { fieldValidation, problems: [], refused }),
    ({ detail }) => refused(detail),
  );
}

/** Who applies with a uid means the object that had it. */
function objectIsGone({ context, served }: ResourceRequest, uid: string): StatusError {
  const { definition, version } = served;
  return conflict(
    { group: version.group, resource: definition.resource },
    context.info.name,
    `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
  );
}

function applyChange(
  request: ResourceRequest,
  { fieldOwnership, bodies }: EndpointDependencies,
  body: Buffer,
  options: WriteOptions,
): MaybePromise<Change> {
  const { apply, applyInSteps } = fieldOwnership ?? {};
  if (apply === undefined || applyInSteps === undefined) throw badRequest('server-side apply is not enabled');
  const { context, served } = request;
  const { info } = context;
  return whenKnown(readAppliedObject(request, body, options, bodies), (applied) => ({
    compute: (live) => {
      const { fieldManager: manager, force } = options;
      const { remote } = served.version;
      const conversions = remote === undefined ? undefined : new ConversionsInOrder();
      const change = { served, live, applied, manager, force, ...(conversions && { conversions }) };
      const merge = (): MaybePromise<KubeObject> =>
        context.givesWay ? context.takeSteps(applyInSteps(change)) : apply(change);
      const merging = remote === undefined ? merge() : withConversions(merge);
      return whenKnown(merging, (merged) => {
        checkIdentity(scopeOf(request), info.name, merged);
        if (live === undefined && merged.metadata.uid) throw objectIsGone(request, merged.metadata.uid);
        if (merged === live) return merged;
        return decodeApplied(request, merged as unknown as JsonObject, options);
      });
    },
    retryOnConflict: true,
    createIfMissing: info.subresource === '',
  }));
}
