import type { KindDefinition, ServedVersion, SubresourceDefinition, Verb } from '../kinds/kind-definition';
import type { GroupVersionKind } from '../object';
import type { Schema } from '../schema/model';
import { capitalize, operationId, operationTag, pathPrefix } from './names';
import * as parameters from './parameters';
import type { ParameterDescription } from './parameters';

/** What is sent or answered: an object of a kind, a patch of any type, the release, or plain text. */
export type Payload = { readonly kind: GroupVersionKind } | 'patch' | 'release' | 'text';

export type Method = 'get' | 'put' | 'post' | 'patch' | 'delete' | 'head' | 'options';

/** One operation of the API, in no particular version of OpenAPI. */
export interface Operation {
  readonly path: string;
  readonly method: Method;
  readonly id: string;
  readonly tag: string;
  readonly description: string;
  /** `x-kubernetes-action`, and the kind that it is done to. Discovery has neither. */
  readonly action?: string;
  readonly kind?: GroupVersionKind;
  readonly parameters: readonly ParameterDescription[];
  readonly body?: Payload;
  readonly bodyRequired: boolean;
  /** What each success code answers. */
  readonly responses: Readonly<Record<number, Payload>>;
  /** Which media types are taken and answered. */
  readonly media: Media;
}

/**
 * `object`: those of built-in kinds; `stream`: besides, of events; `custom`: those of custom kinds; `any`: passed through;
 * `log`: text, or an error; the rest has one type.
 */
export type Media = 'object' | 'stream' | 'custom' | 'any' | 'discovery' | 'log' | 'json' | 'issuer' | 'keys';

const META = { group: '', version: 'v1' };
const STATUS: Payload = { kind: { ...META, kind: 'Status' } };
const DELETE_OPTIONS: Payload = { kind: { ...META, kind: 'DeleteOptions' } };
const WATCH_EVENT: Payload = { kind: { ...META, kind: 'WatchEvent' } };

/** These pass a connection on; their verbs are the methods they take. */
const CONNECTIONS: ReadonlySet<string> = new Set(['attach', 'exec', 'portforward', 'proxy']);

/** What an operation on one kind in one version starts from. */
interface Context {
  readonly schema: Schema;
  readonly definition: KindDefinition;
  readonly served: ServedVersion;
  readonly kind: GroupVersionKind;
  readonly isCustom: boolean;
  /** `/apis/apps/v1/namespaces/{namespace}/deployments`. */
  readonly collection: string;
  /** `Namespaced` or nothing, for ids. */
  readonly scope: string;
  readonly scopeParameters: readonly ParameterDescription[];
}

/** Every operation of a group version, or of all of them. */
export function operationsOf(
  schema: Schema,
  definitions: readonly KindDefinition[],
  wanted: (group: string, version: string) => boolean = () => true,
): readonly Operation[] {
  return definitions.flatMap((definition) =>
    definition.versions
      .filter(({ group, version }) => wanted(group, version))
      .flatMap((served) => kindOperations(contextOf(schema, definition, served))),
  );
}

function contextOf(schema: Schema, definition: KindDefinition, served: ServedVersion): Context {
  const { group, version } = served;
  const scope = definition.namespaced ? '/namespaces/{namespace}' : '';
  const kind = { group, version, kind: definition.kind };
  return {
    schema,
    definition,
    served,
    kind,
    isCustom: schema.kind(group, version, kind.kind) === undefined,
    collection: `${pathPrefix(group, version)}${scope}/${definition.resource}`,
    scope: definition.namespaced ? 'Namespaced' : '',
    scopeParameters: definition.namespaced ? [parameters.NAMESPACE] : [],
  };
}

function kindOperations(context: Context): readonly Operation[] {
  const { definition, served } = context;
  const verbs = served.verbs ?? definition.verbs;
  const subresources = definition.subresources.filter(
    ({ name }) => served.withoutSubresources?.includes(name) !== true,
  );
  return [
    ...verbs.flatMap((verb) => verbOperation(context, verb)),
    ...(definition.namespaced && verbs.includes('list') ? [listEverywhere(context)] : []),
    ...(verbs.includes('watch') && !context.isCustom ? watchOperations(context) : []),
    ...subresources.flatMap((subresource) =>
      CONNECTIONS.has(subresource.name)
        ? connectOperations(context, subresource)
        : subresource.verbs.flatMap((verb) => subresourceOperation(context, subresource, verb)),
    ),
  ];
}

function verbOperation(context: Context, verb: Verb): readonly Operation[] {
  const object: Payload = { kind: context.kind };
  switch (verb) {
    case 'list':
      return [
        operation(context, 'get', {
          verb: 'list',
          action: 'list',
          description: `List or watch objects of kind ${context.kind.kind}`,
          parameters: parameters.LIST,
          responses: { 200: listOf(context.kind) },
          media: 'stream',
        }),
      ];
    case 'create':
      return [
        operation(context, 'post', {
          verb: 'create',
          action: 'post',
          description: `Create ${article(context.kind.kind)}`,
          parameters: parameters.WRITE,
          body: object,
          responses: { 200: object, 201: object, 202: object },
        }),
      ];
    case 'deletecollection':
      return [
        operation(context, 'delete', {
          verb: 'delete',
          idRest: `Collection${context.scope}${context.kind.kind}`,
          action: 'deletecollection',
          description: `Delete the selected objects of kind ${context.kind.kind}`,
          parameters: [...parameters.LIST.filter(({ name }) => !WATCH_ONLY.has(name)), ...parameters.DELETE],
          body: DELETE_OPTIONS,
          bodyRequired: false,
          responses: { 200: STATUS },
        }),
      ];
    case 'get':
    case 'update':
    case 'patch':
      return [namedOperation(context, verb, object, '')];
    case 'delete': {
      const response = context.definition.deleteReturnsObject && context.kind.kind !== 'Namespace' ? object : STATUS;
      return [
        operation(context, 'delete', {
          named: true,
          verb: 'delete',
          action: 'delete',
          description: `Delete ${article(context.kind.kind)}`,
          parameters: parameters.DELETE,
          body: DELETE_OPTIONS,
          bodyRequired: false,
          responses: { 200: response, 202: response },
        }),
      ];
    }
    case 'watch':
      return []; // part of list, and paths of their own
  }
}

const WATCH_ONLY: ReadonlySet<string> = new Set(['allowWatchBookmarks', 'watch']);

/** Reads or writes one object, or a part of it that has the kind `payload`. */
function namedOperation(
  context: Context,
  verb: 'get' | 'update' | 'patch',
  payload: Payload,
  subresource: string,
  query: readonly ParameterDescription[] = [],
): Operation {
  const what = `${subresource === '' ? '' : `${subresource} of `}${article(context.kind.kind)}`;
  // A custom kind's scale is told to be of that kind.
  const kind = typeof payload === 'object' && !context.isCustom ? payload.kind : context.kind;
  const common = { named: true, subresource, kind };
  switch (verb) {
    case 'get':
      return operation(context, 'get', {
        ...common,
        verb: 'read',
        action: 'get',
        description: `Read ${what}`,
        parameters: query,
        responses: { 200: payload },
        ...(payload === 'text' ? { media: 'log' } : {}),
      });
    case 'update':
      return operation(context, 'put', {
        ...common,
        verb: 'replace',
        action: 'put',
        description: `Replace ${what}`,
        parameters: parameters.WRITE,
        body: payload,
        responses: { 200: payload, 201: payload },
      });
    case 'patch':
      return operation(context, 'patch', {
        ...common,
        verb: 'patch',
        action: 'patch',
        description: `Change ${what} by a patch`,
        parameters: parameters.PATCH,
        body: 'patch',
        responses: { 200: payload, 201: payload },
      });
  }
}

function subresourceOperation(context: Context, subresource: SubresourceDefinition, verb: Verb): readonly Operation[] {
  const { name, wireKind } = subresource;
  const kind = wireKind ?? context.kind;
  if (name === 'log') {
    const options = context.schema.kind(META.group, META.version, 'PodLogOptions');
    return [
      namedOperation(context, 'get', 'text', name, options === undefined ? [] : parameters.parametersOf(options)),
    ];
  }
  switch (verb) {
    case 'get':
    case 'update':
    case 'patch':
      return [namedOperation(context, verb, { kind }, name)];
    case 'create':
      return [
        operation(context, 'post', {
          named: true,
          subresource: name,
          kind,
          verb: 'create',
          action: 'post',
          description: `Create ${name} of ${article(context.kind.kind)}`,
          parameters: parameters.WRITE,
          body: { kind },
          responses: { 200: { kind }, 201: { kind }, 202: { kind } },
        }),
      ];
    case 'delete':
    case 'deletecollection':
    case 'list':
    case 'watch':
      return [];
  }
}

/** Methods of connections by verb; what is proxied takes all. */
const CONNECT_METHODS: Readonly<Record<Verb, readonly Method[]>> = {
  get: ['get', 'head', 'options'],
  create: ['post'],
  update: ['put'],
  patch: ['patch'],
  delete: ['delete'],
  deletecollection: [],
  list: [],
  watch: [],
};

function connectOperations(context: Context, subresource: SubresourceDefinition): readonly Operation[] {
  const { name, wireKind, verbs } = subresource;
  const options = wireKind && context.schema.kind(wireKind.group, wireKind.version, wireKind.kind);
  const query = options === undefined ? [] : parameters.parametersOf(options);
  const all = verbs.flatMap((verb) => CONNECT_METHODS[verb]);
  const methods = name === 'proxy' ? all : all.filter((method) => method !== 'head' && method !== 'options');
  return methods.flatMap((method) => {
    const connect = (path: string, idEnd: string, extra: readonly ParameterDescription[]) =>
      operation(context, method, {
        named: true,
        subresource: `${name}${path}`,
        idRest: `${capitalize(method)}${context.scope}${context.kind.kind}${capitalize(name)}${idEnd}`,
        verb: 'connect',
        action: 'connect',
        description: `Connect ${method.toUpperCase()} requests to ${name} of ${article(context.kind.kind)}`,
        ...(wireKind === undefined ? {} : { kind: wireKind }),
        parameters: [...extra, ...query],
        responses: { 200: 'text' },
        media: 'any',
      });
    const whole = connect('', '', []);
    return name === 'proxy' ? [whole, connect('/{path}', 'WithPath', [parameters.PROXY_PATH])] : [whole];
  });
}

function listEverywhere(context: Context): Operation {
  const { kind } = context.kind;
  return operation(everywhere(context), 'get', {
    verb: 'list',
    action: 'list',
    idRest: `${kind}ForAllNamespaces`,
    description: `List or watch objects of kind ${kind} of all namespaces`,
    parameters: parameters.LIST,
    responses: { 200: listOf(context.kind) },
    media: 'stream',
  });
}

/** The older way to watch, with paths of its own: generated clients have their streams from these. */
function watchOperations(context: Context): readonly Operation[] {
  const { group, version, kind } = context.kind;
  const prefix = pathPrefix(group, version);
  const watch = (of: Context, action: 'watch' | 'watchlist', idRest: string, what: string): Operation =>
    operation({ ...of, collection: `${prefix}/watch${of.collection.slice(prefix.length)}` }, 'get', {
      named: action === 'watch',
      verb: 'watch',
      action,
      idRest,
      description: `Watch ${what}. Deprecated: use the parameter watch of a list${action === 'watch' ? ', with a field selector for the name' : ''}.`,
      parameters: parameters.LIST,
      responses: { 200: WATCH_EVENT },
      media: 'stream',
    });
  const all = `the objects of kind ${kind}`;
  return [
    watch(context, 'watch', `${context.scope}${kind}`, article(kind)),
    watch(context, 'watchlist', `${context.scope}${kind}List`, all),
    ...(context.definition.namespaced
      ? [watch(everywhere(context), 'watchlist', `${kind}ListForAllNamespaces`, `${all} of all namespaces`)]
      : []),
  ];
}

/** The same kind in all namespaces. */
function everywhere(context: Context): Context {
  const { group, version } = context.kind;
  const collection = `${pathPrefix(group, version)}/${context.definition.resource}`;
  return { ...context, collection, scope: '', scopeParameters: [] };
}

interface OperationParts {
  /** Concerns one object and not the collection. */
  readonly named?: boolean;
  readonly subresource?: string;
  readonly verb: string;
  readonly idRest?: string;
  readonly action: string;
  readonly description: string;
  readonly kind?: GroupVersionKind;
  readonly parameters?: readonly ParameterDescription[];
  readonly body?: Payload;
  readonly bodyRequired?: boolean;
  readonly responses: Readonly<Record<number, Payload>>;
  readonly media?: Media;
}

function operation(context: Context, method: Method, parts: OperationParts): Operation {
  const { group, version, kind } = context.kind;
  const { named = false, subresource = '' } = parts;
  const idRest = parts.idRest ?? `${context.scope}${kind}${capitalize(subresource)}`;
  return {
    path: `${context.collection}${named ? '/{name}' : ''}${subresource === '' ? '' : `/${subresource}`}`,
    method,
    id: operationId(parts.verb, group, version, idRest),
    tag: operationTag(group, version),
    description: parts.description,
    action: parts.action,
    kind: parts.kind ?? context.kind,
    parameters: [
      ...(named ? [parameters.NAME] : []),
      ...context.scopeParameters,
      ...(parts.parameters ?? []),
      ...(parts.action === 'connect' ? [] : [parameters.PRETTY]),
    ],
    ...(parts.body === undefined ? {} : { body: parts.body }),
    bodyRequired: parts.bodyRequired ?? parts.body !== undefined,
    responses: parts.responses,
    media: context.isCustom ? 'custom' : (parts.media ?? 'object'),
  };
}

function listOf({ group, version, kind }: GroupVersionKind): Payload {
  return { kind: { group, version, kind: `${kind}List` } };
}

function article(kind: string): string {
  return `${/^[AEIO]/.test(kind) ? 'an' : 'a'} ${kind}`;
}
