import { decodeObject } from '../../api/codec/json-decode';
import { invalid, required, type FieldError } from '../../api/errors/field-error';
import { internalError, invalidObject, notFound, StatusError } from '../../api/errors/status-error';
import type { SubresourceDefinition } from '../../api/kinds/kind-definition';
import { isPlainMap } from '../../api/kinds/field-values';
import { whenKnown, type MaybePromise } from '../../api/maybe-promise';
import type { JsonObject, KubeObject, ObjectMeta } from '../../api/object';
import { atOnce, isLarge } from '../../api/parts';
import type { StructType } from '../../api/schema/model';
import { checkIdentity } from '../../registry/identity';
import type { Preconditions } from '../../registry/types';
import { MAX_POSTED_BYTES, readBody } from '../request/body';
import type { Endpoint, EndpointDependencies, ResourceRequest } from './endpoint';
import { APPLY_PATCH, MERGE_PATCH, patchTypeOf, patchers, readPatch } from './patchers';
import type { ApiResponse } from '../response/api-response';
import { wireFormOf } from '../response/wire-form';
import { parseWriteOptions, type WriteOptions } from '../request/write-options';
import { changeObject } from './change';
import { decodeAs } from './decode-request';
import { decodePatched } from './patched-object';
import { objectOf } from './read-object';
import { scopeOf, toStorage } from './resource-request';

/** The Scale of a deployment, a replica set, a custom resource: one number of the parent, as an object of its own. */

const SCALE = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
const SCALE_VERSION = 'autoscaling/v1';
type ScalePaths = NonNullable<SubresourceDefinition['scale']>;

/** The wire's Scale, autoscaling/v1. */
interface Scale extends KubeObject {
  readonly spec?: { readonly replicas?: number };
}

export const getScale: Endpoint = async (request, dependencies) => {
  const { info } = request.context;
  const resourceVersion = info.query.first('resourceVersion') ?? '';
  const options = resourceVersion === '' ? {} : { resourceVersion };
  const entry = await namingScale(request, () =>
    request.registry.get(scopeOf(request), info.name, options, request.context.signal),
  );
  return scaleResponse(request, dependencies, await objectOf(entry, request.context), new WeakMap());
};

/** What is not there is the scale, not its parent: built-in kinds say so. */
async function namingScale<T>({ served, context }: ResourceRequest, read: () => MaybePromise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (served.custom || !(error instanceof StatusError) || error.status.code !== 404) throw error;
    // That of replication controllers was always of its own group.
    const group = served.version.group || SCALE.group;
    throw notFound({ group, resource: `${served.definition.resource}/scale` }, context.info.name);
  }
}

export const updateScale: Endpoint = async (request, dependencies) => {
  const { context } = request;
  const expected = { kind: SCALE, type: scaleType(dependencies) };
  const { object, options } = await decodeAs(request, dependencies, expected, () =>
    parseWriteOptions(context.info.query, 'UpdateOptions'),
  );
  checkIdentity(scopeOf(request), context.info.name, object);
  return writeScale(
    request,
    dependencies,
    options,
    () => object,
    preconditionsOf(object),
    !object.metadata.resourceVersion,
  );
};

export const patchScale: Endpoint = async (request, dependencies) => {
  const { context } = request;
  const patchType = patchTypeOf(context.request.headers['content-type']);
  const body = await readBody(context, MAX_POSTED_BYTES);
  const options = parseWriteOptions(context.info.query, 'PatchOptions', patchType === APPLY_PATCH);
  const format = patchType === APPLY_PATCH ? MERGE_PATCH : patchType;
  const patcher = patchers.get(format);
  if (patcher === undefined) throw new Error(`no patcher for ${patchType}`);
  const type = scaleType(dependencies);
  const patch = (scale: () => Scale): Scale => {
    const patched = patcher(scale() as unknown as JsonObject, readPatch(format, body), type);
    const wanted = decodePatched(patched, { kind: SCALE.kind, apiVersion: SCALE_VERSION, custom: false }, (document) =>
      decodeScale(type, document),
    );
    checkIdentity(scopeOf(request), context.info.name, wanted);
    return wanted;
  };
  return writeScale(request, dependencies, options, patch, {}, true);
};

async function writeScale(
  request: ResourceRequest,
  dependencies: EndpointDependencies,
  options: WriteOptions,
  wantedScale: (current: () => Scale) => Scale,
  preconditions: Preconditions,
  retryOnConflict: boolean,
): Promise<ApiResponse> {
  const { served } = request;
  const paths = scalePaths(request);
  const form = wireFormOf(served);
  // Ownership follows whole objects only: a scale leaves it as it is (spec, "Field ownership" 8).
  const scaled = (parent: KubeObject, { metadata: { resourceVersion }, spec }: Scale): KubeObject => {
    const changed = withReplicas(parent, paths.specReplicasPath, spec?.replicas ?? 0);
    return resourceVersion ? { ...changed, metadata: { ...changed.metadata, resourceVersion } } : changed;
  };
  const printed: PrintedSelectors = new WeakMap();
  let sent: Scale = { metadata: {} };
  const { entry } = await changeObject(request, dependencies, options, {
    compute: (live) => {
      if (live === undefined) throw parentNotFound(request);
      return whenKnown(printLongSelector(request, live, printed), () => {
        sent = wantedScale(() => toScale(live, paths, printed));
        // What a custom resource's replicas may be, its own validation says.
        if (!served.custom) checkScale(sent, served.definition.namespaced);
        return scaled(live, sent);
      });
    },
    preconditions,
    retryOnConflict,
    createIfMissing: false,
    seenAs: {
      sent: () => sent,
      // What is not said yet may be said by this write.
      of: (parent) => scaleWith(form.convert(parent), paths, 0, printed),
      into: (parent, seen) => {
        if (seen === sent) return parent;
        if (!served.custom) checkScale(seen, served.definition.namespaced);
        return toStorage(request, scaled(form.convert(parent), seen));
      },
    },
  });
  return scaleResponse(request, dependencies, entry.object, printed);
}

function parentNotFound({ served, context }: ResourceRequest): StatusError {
  const { group } = served.version;
  return notFound({ group, resource: served.definition.resource }, context.info.name);
}

async function scaleResponse(
  request: ResourceRequest,
  dependencies: EndpointDependencies,
  stored: KubeObject,
  printed: PrintedSelectors,
): Promise<ApiResponse> {
  const parent = wireFormOf(request.served).convert(stored);
  await printLongSelector(request, parent, printed);
  const scale = toScale(parent, scalePaths(request), printed);
  return { type: 'object', code: 200, object: scale, struct: scaleType(dependencies) };
}

/** The texts of long selectors that a request has printed. */
type PrintedSelectors = WeakMap<object, string>;

/** Prints a long selector in turns with others, before those look at the scale of this parent, or of one that has the same, who cannot wait. */
function printLongSelector(
  request: ResourceRequest,
  parent: KubeObject,
  printed: PrintedSelectors,
): MaybePromise<void> {
  const { selector, printSelector } = scalePaths(request);
  const found = selector(parent);
  if (printSelector === undefined || !isPlainMap(found) || !isLarge(found) || printed.has(found)) return undefined;
  return request.context.takeSteps(printSelector(found)).then((text) => void printed.set(found, text));
}

function selectorText(
  parent: KubeObject,
  { selector, printSelector }: ScalePaths,
  printed: PrintedSelectors,
): string | undefined {
  const found = selector(parent);
  if (typeof found === 'string') return found;
  if (printSelector === undefined || !isPlainMap(found)) return undefined;
  return printed.get(found) ?? atOnce(printSelector(found));
}

function scalePaths({ subresource }: ResourceRequest): ScalePaths {
  if (subresource?.scale === undefined) throw new Error('the subresource is no scale');
  return subresource.scale;
}

function scaleType({ catalogue }: EndpointDependencies): StructType {
  const type = catalogue.schema.kind(SCALE.group, SCALE.version, SCALE.kind);
  if (type === undefined) throw new Error('the schema has no Scale');
  return type;
}

/** From the parent: name, identity and version, the wanted and the actual number, and who they are counted by. */
function toScale(parent: KubeObject, paths: ScalePaths, printed: PrintedSelectors): Scale {
  const { specReplicasPath } = paths;
  const replicas = numberAt(parent, specReplicasPath);
  if (replicas === undefined) {
    throw internalError(`the spec replicas field ${JSON.stringify(`.${specReplicasPath.join('.')}`)} does not exist`);
  }
  return scaleWith(parent, paths, replicas, printed);
}

/** The same, with what is wanted where the parent does not say. */
function scaleWith(parent: KubeObject, paths: ScalePaths, fallback: number, printed: PrintedSelectors): Scale {
  const { specReplicasPath, statusReplicasPath } = paths;
  const { name, namespace, uid, resourceVersion, creationTimestamp } = parent.metadata;
  const replicas = numberAt(parent, specReplicasPath) ?? fallback;
  const counted = selectorText(parent, paths, printed);
  const metadata = definedOnly({ name, namespace, uid, resourceVersion, creationTimestamp });
  return {
    kind: SCALE.kind,
    apiVersion: SCALE_VERSION,
    metadata,
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: numberAt(parent, statusReplicasPath) ?? 0, ...(counted ? { selector: counted } : {}) },
  };
}

function definedOnly(metadata: { readonly [Key in keyof ObjectMeta]: ObjectMeta[Key] | undefined }): ObjectMeta {
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== undefined));
}

function numberAt(object: KubeObject, path: readonly string[]): number | undefined {
  let value: unknown = object;
  for (const key of path) value = (value as Readonly<Record<string, unknown>> | null | undefined)?.[key];
  return typeof value === 'number' ? value : undefined;
}

function withReplicas(parent: KubeObject, path: readonly string[], replicas: number): KubeObject {
  const set = (value: unknown, [key, ...rest]: readonly string[]): unknown =>
    key === undefined
      ? replicas
      : { ...(value as object), [key]: set((value as Record<string, unknown>)?.[key], rest) };
  return set(parent, path) as KubeObject;
}

function checkScale({ metadata, spec }: Scale, namespaced: boolean): void {
  const errors: FieldError[] = [];
  if (namespaced && !metadata.namespace) errors.push(required('metadata.namespace', ''));
  const replicas = spec?.replicas ?? 0;
  if (replicas < 0) errors.push(invalid('spec.replicas', replicas, 'must be greater than or equal to 0'));
  if (errors.length > 0) throw invalidObject({ group: SCALE.group, kind: SCALE.kind }, metadata.name ?? '', errors);
}

/** Its version is compared like that of any update, with the words of one. */
function preconditionsOf({ metadata: { uid } }: KubeObject): Preconditions {
  return uid ? { uid } : {};
}

function decodeScale(type: StructType, document: JsonObject): Scale {
  const options = { applyDefaults: true, collectUnknown: false, kind: SCALE.kind, version: SCALE.version };
  const { object } = decodeObject(type, document, options);
  return { ...object, kind: SCALE.kind, apiVersion: SCALE_VERSION };
}
