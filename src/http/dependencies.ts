import type {
  KindDefinition,
  ServedVersion,
  SubresourceDefinition,
  TableDefinition,
} from '../api/kinds/kind-definition';
import type { MaybePromise } from '../api/maybe-promise';
import type { AdmissionChain } from '../admission/chain';
import type { Schema, StructType } from '../api/schema/model';
import type { UserInfo } from '../api/user';
import type { AuthenticateRequest } from '../authn/union';
import type { Authorizer } from '../authz/attributes';
import type { MaxInFlight } from '../flowcontrol/max-in-flight';
import type { BackendConnections } from '../kubelet/backend-connections';
import type { RequestMetrics } from '../observability/request-metrics';
import type { ResourceRegistry } from '../registry/resource-registry';
import type { RequestContext } from './context';
import type { ServerFeatures } from './features';
import type { FieldOwnership } from './field-ownership';
import type { LargeBodies } from './large-bodies';
import type { Reply } from './reply';

/** What the endpoints ask of a resource's registry. */
export type RegistryOperations = Pick<
  ResourceRegistry,
  'get' | 'list' | 'watch' | 'create' | 'update' | 'delete' | 'deleteCollection'
>;

/** A resource under one of its versions, ready to serve. One record per group, version and resource. */
export interface ServedResource {
  readonly definition: KindDefinition;
  readonly version: ServedVersion;
  /** Absent for kinds that are not stored. */
  readonly registry: RegistryOperations | undefined;
  /** Of this version. */
  readonly type: StructType;
  readonly listKind: string;
  /**
   * Defined by a CustomResourceDefinition: no Protobuf, items of lists carry kind and apiVersion, no strategic merge
   * patch, and apiVersion and kind are required in bodies.
   */
  readonly custom: boolean;
  /** Cells from the object in this version; absent: the definition's, from the stored version. */
  readonly table?: TableDefinition;
  /** A custom resource that is being removed takes no new objects. */
  readonly terminating?: boolean;
}

/** What is served. Custom resources come and go; each lookup is O(1). */
export interface Catalogue {
  resolve(group: string, version: string, resource: string): ServedResource | undefined;
  /** Some built-in version of the group is served: unknown paths in it are answered with a Status. */
  hasBuiltInGroup(group: string): boolean;
  /** The group, version and kind are known (to word a refusal). */
  readonly schema: Schema;
}

/** A path outside the resource tree: health, version, discovery, metrics, OpenAPI. */
export interface NonResourceRoute {
  readonly path: string;
  /** Every path below it, too. */
  readonly prefix?: boolean;
  /** Left out of the list of paths at `/` and in 404 answers. */
  readonly unlisted?: boolean;
  /** Others are answered 405; absent: GET only. */
  readonly methods?: readonly string[] | 'any';
  readonly handler: (context: RequestContext) => MaybePromise<Reply>;
}

/** An endpoint for what is not plain storage: reviews, tokens, evictions, logs. */
export type Endpoint = (request: ResourceRequest, dependencies: EndpointDependencies) => MaybePromise<Reply>;

export interface ResourceRequest {
  readonly context: RequestContext;
  readonly served: ServedResource;
  /** Present where the resource is stored. */
  readonly registry: RegistryOperations;
  readonly subresource: SubresourceDefinition | undefined;
  readonly user: UserInfo;
}

export interface EndpointDependencies {
  readonly catalogue: Catalogue;
  readonly admission?: AdmissionChain;
  /** Absent: each object's own, by what its kind says. */
  readonly fieldOwnership?: FieldOwnership;
  /** By `verb group/resource` or `verb group/resource/subresource`: takes precedence over the plain endpoint. */
  readonly specialEndpoints?: ReadonlyMap<string, Endpoint>;
  /** Seconds: a watch without timeoutSeconds lasts this to twice this. */
  readonly minRequestTimeoutSeconds: number;
  readonly features: ServerFeatures;
  /** Aborts when the server goes down: watches end as if their time were over. */
  readonly closing: AbortSignal;
  readonly metrics?: Pick<RequestMetrics, 'recordWatchEvents' | 'recordDeprecated'>;
  /** Kubelets, and what pods and services offer. */
  readonly backends: BackendConnections;
  /** How bodies are read that are too large for one stretch. */
  readonly bodies: LargeBodies;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The functions that the filters call. */
export interface ChainDependencies {
  /** Throws a 401 StatusError. */
  readonly authenticate: AuthenticateRequest;
  readonly authorize: Authorizer;
  /** Registers with `context.onFinished` what it wants to write down, and sets the Audit-Id header. */
  readonly audit?: (context: RequestContext) => void;
  /** Writes down what came of the request. Absent: nobody does. */
  readonly logRequest?: ((context: RequestContext) => void) | undefined;
  /** Absent: no limits. */
  readonly maxInFlight?: MaxInFlight;
  readonly requestTimeoutMs: number;
}
