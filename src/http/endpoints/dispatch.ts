import { badRequest, methodNotSupported, notFound, StatusError } from '../../api/errors/status-error';
import { whenKnown, type MaybePromise } from '../../api/maybe-promise';
import type { SubresourceDefinition, Verb } from '../../api/kinds/kind-definition';
import type { RequestContext } from '../request/context';
import { unknownBodyFormat } from '../request/decode';
import type { Endpoint, EndpointDependencies } from './endpoint';
import type { RegistryOperations, ServedResource } from '../../resources/served-resource';
import { createObject } from './create';
import { deleteObject } from './delete';
import { deleteObjects } from './delete-collection';
import { getObject } from './get';
import { listObjects } from './list';
import { patchObject } from './patch';
import { getScale, patchScale, updateScale } from './scale';
import { updateObject } from './update';
import { watchObjects } from './watch';
import { BUILT_IN, BUILT_IN_PART, CUSTOM, negotiate, POD_LOG, type Negotiated } from '../request/negotiate';
import { APPLY_PATCH, STRATEGIC_MERGE_PATCH, patchTypeOf, patchers } from './patchers';
import { passToApi } from '../proxy/pass-to-api';
import { methodNotAllowed, resourceNotFound } from '../response/refusals';
import { textResponse, type Dispatched } from '../response/api-response';
import type { RequestInfo } from '../request/request-info';

const ENDPOINTS: Readonly<Record<Verb, Endpoint>> = {
  get: getObject,
  list: listObjects,
  watch: watchObjects,
  create: createObject,
  update: updateObject,
  patch: patchObject,
  delete: deleteObject,
  deletecollection: deleteObjects,
};
const SCALE_ENDPOINTS: Readonly<Partial<Record<Verb, Endpoint>>> = {
  get: getScale,
  update: updateScale,
  patch: patchScale,
};
/** These take a path of their own after the name. */
const PATH_SUBRESOURCES: ReadonlySet<string> = new Set(['proxy']);
const NAMED_VERBS: ReadonlySet<string> = new Set<Verb>(['get', 'update', 'patch', 'delete']);

/**
 * Finds the endpoint of a request for a resource and runs it. What is wrong with the path comes first, then the method, the patch's
 * type, and what the client accepts; only then the endpoint.
 */
export function dispatch(context: RequestContext, dependencies: EndpointDependencies): MaybePromise<Dispatched> {
  const { info } = context;
  const remote = dependencies.aggregation?.apis.find(info);
  if (remote !== undefined) return passToApi(context, remote, dependencies.aggregation!, dependencies);
  const served = dependencies.catalogue.resolve(info.group, info.version, info.resource);
  if (served === undefined) return unknownResource(info, dependencies);
  if (!shapeFits(info, served)) {
    if (served.custom) return PAGE_NOT_FOUND;
    throw resourceNotFound();
  }
  const subresource = findSubresource(info, served);
  const { definition, version } = served;
  const verbs = subresource?.verbs ?? version.verbs ?? definition.verbs;
  if (!routeExists(context, served, subresource, verbs)) throw methodNotAllowed();
  warnOfDeprecation(context, served, dependencies);
  if (!verbs.includes(info.verb as Verb) && subresource?.connects !== true) {
    throw methodNotSupported({ group: version.group, resource: definition.resource }, info.verb);
  }
  // Whatever is at the other end would do it.
  if (subresource?.connects === true && info.query.has('dryRun')) throw badRequest('dryRun is not supported');
  if (subresource?.connects !== true) checkPatchType(context, served, dependencies.fieldOwnership?.apply !== undefined);
  const negotiated = negotiatedOf(context, served, subresource);
  if (NAMED_VERBS.has(info.verb)) checkPathName(info.name);
  const endpoint = endpointOf(info, subresource, dependencies);
  if (endpoint === undefined) throw resourceNotFound();
  if (context.user === undefined) throw new Error('dispatch came before authentication');
  const registry = served.registry ?? NOT_STORED;
  const response = endpoint({ context, served, registry, subresource, user: context.user }, dependencies);
  return whenKnown(response, (known) => ({ response: known, negotiated }));
}

/** What a connection brings is for the other end to negotiate. */
function negotiatedOf(
  { request }: RequestContext,
  { custom, definition }: ServedResource,
  subresource: SubresourceDefinition | undefined,
): Negotiated {
  if (subresource?.connects === true) return { format: 'json', pretty: false };
  if (subresource?.name === 'log') return negotiate(request.headers.accept, POD_LOG);
  const builtIn = subresource === undefined && definition.verbs.includes('list') ? BUILT_IN : BUILT_IN_PART;
  return negotiate(request.headers.accept, custom ? CUSTOM : builtIn);
}

/** For kinds without storage only special endpoints run, which do not touch it. */
const NOT_STORED = new Proxy({} as RegistryOperations, {
  get: () => {
    throw resourceNotFound();
  },
});

function unknownResource(info: RequestInfo, { catalogue }: EndpointDependencies): Dispatched {
  if (info.group !== '' && !catalogue.hasBuiltInGroup(info.group)) return PAGE_NOT_FOUND;
  throw resourceNotFound();
}

const PAGE_NOT_FOUND: Dispatched = {
  response: textResponse(404, '404 page not found\n'),
  negotiated: { format: 'json', pretty: false },
};

function warnOfDeprecation(
  context: RequestContext,
  { version: { group, version, deprecationWarning, removedRelease = '' } }: ServedResource,
  { metrics }: EndpointDependencies,
): void {
  if (deprecationWarning === undefined) return;
  context.warn(deprecationWarning);
  context.annotate('k8s.io/deprecated', 'true');
  if (removedRelease !== '') context.annotate('k8s.io/removed-release', removedRelease);
  const { resource, subresource } = context.info;
  metrics?.recordDeprecated({ group, version, resource, subresource, removedRelease });
}

/** Namespaced objects are named in a namespace, cluster-scoped ones outside, and nothing follows a subresource. */
function shapeFits(info: RequestInfo, { definition, version, custom }: ServedResource): boolean {
  const { namespace, named, parts, subresource, watchPrefix } = info;
  const verbs = version.verbs ?? definition.verbs;
  if (info.verb === 'proxy') return false;
  if (parts.length > 3 && !PATH_SUBRESOURCES.has(subresource)) return false;
  // What cannot be watched has no such paths, and what cannot be listed is nowhere over all namespaces.
  if (watchPrefix && (subresource !== '' || !verbs.includes('watch'))) return false;
  if (definition.namespaced && namespace === '' && !verbs.includes('list')) return false;
  // What is only posted (reviews, bindings) has no names.
  if (named && subresource === '' && !definition.verbs.some((verb) => NAMED_VERBS.has(verb))) return false;
  if (definition.namespaced) return namespace !== '' || (!named && !(custom && info.verb === 'create'));
  // A namespace's own path has it as its namespace, too.
  return namespace === '' || (definition.resource === 'namespaces' && named && namespace === info.name);
}

function findSubresource(
  { subresource: name, name: parent }: RequestInfo,
  { definition, version, custom }: ServedResource,
): SubresourceDefinition | undefined {
  if (name === '') return undefined;
  const found = definition.subresources.find((subresource) => subresource.name === name);
  if (found === undefined || version.withoutSubresources?.includes(name) === true) {
    throw custom ? notFound({ group: version.group, resource: definition.resource }, parent) : resourceNotFound();
  }
  return found;
}

/** The path takes the method at all; whether the resource has the verb is for a handler to say. */
function routeExists(
  { info, request }: RequestContext,
  { definition, custom }: ServedResource,
  subresource: SubresourceDefinition | undefined,
  verbs: readonly Verb[],
): boolean {
  const verb = info.verb as Verb;
  const method = request.method ?? '';
  if (info.named && subresource?.connects === true && PATH_SUBRESOURCES.has(subresource.name)) {
    return verbs.includes(verb) || method === 'OPTIONS';
  }
  // What serves custom resources looks at the verb alone.
  if ((method === 'HEAD' && !custom) || (info.watchPrefix && method !== 'GET')) return false;
  // Without a name there is nothing to update; with one there is nothing to create but a subresource's object.
  if (info.named ? verb === 'create' && subresource === undefined : NAMED_VERBS.has(verb)) return false;
  // Over all namespaces there is only reading.
  const writesToCollection = verb === 'create' || verb === 'deletecollection';
  if (writesToCollection && definition.namespaced && info.namespace === '') return false;
  return custom || verbs.includes(verb) || (verb === 'watch' && verbs.includes('list'));
}

function checkPatchType({ info, request }: RequestContext, { custom }: ServedResource, canApply: boolean): void {
  if (info.verb !== 'patch') return;
  const types = [...patchers.keys(), ...(canApply ? [APPLY_PATCH] : [])].filter(
    (type) => !custom || type !== STRATEGIC_MERGE_PATCH,
  );
  const contentType = request.headers['content-type'];
  if (types.includes(patchTypeOf(contentType))) return;
  // Among several types there may be one that has a route, but is not the body's.
  if (custom || contentType?.split(',').some((one) => types.includes(patchTypeOf(one.trim())))) {
    throw unknownBodyFormat(types);
  }
  // Without a body there is nothing whose type could be unsupported.
  if (contentType === undefined && !hasBody(request)) {
    throw new StatusError(406, 'NotAcceptable', '406: Not Acceptable', {});
  }
  throw new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
}

function hasBody({ headers }: RequestContext['request']): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** A name that would leave its place among the keys. */
function checkPathName(name: string): void {
  const problem =
    name === '.' || name === '..' ? `may not be '${name}'` : name.includes('%') ? "may not contain '%'" : undefined;
  if (problem === undefined) return;
  throw new StatusError(400, 'BadRequest', `Name parameter invalid: ${JSON.stringify(name)}: ${problem}`);
}

function endpointOf(
  { verb, group, resource, subresource: name }: RequestInfo,
  subresource: SubresourceDefinition | undefined,
  { specialEndpoints }: EndpointDependencies,
): Endpoint | undefined {
  const special = specialEndpoints?.get(`${verb} ${group}/${resource}${name === '' ? '' : `/${name}`}`);
  if (special !== undefined) return special;
  if (subresource === undefined) return ENDPOINTS[verb as Verb];
  if (subresource.scale !== undefined) return SCALE_ENDPOINTS[verb as Verb];
  return subresource.strategy === undefined ? undefined : ENDPOINTS[verb as Verb];
}
