import type { BackendConnections } from '../../kubelet/backend-connections';
import type { AdmissionChain } from '../../admission/chain';
import type { SubresourceDefinition } from '../../api/kinds/kind-definition';
import type { MaybePromise } from '../../api/maybe-promise';
import type { UserInfo } from '../../api/user';
import type { RequestMetrics } from '../../observability/request-metrics';
import type { FieldOwnership } from '../../resources/field-ownership';
import type { Catalogue, RegistryOperations, ServedResource } from '../../resources/served-resource';
import type { Aggregation } from '../proxy/pass-to-api';
import type { RequestContext } from '../request/context';
import type { ServerFeatures } from '../request/features';
import type { LargeBodies } from '../request/large-bodies';
import type { ApiResponse } from '../response/api-response';

/** An endpoint for what is not plain storage: reviews, tokens, evictions, logs. */
export type Endpoint = (request: ResourceRequest, dependencies: EndpointDependencies) => MaybePromise<ApiResponse>;

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
  /** Other API servers. Absent: none. */
  readonly aggregation?: Aggregation | undefined;
  /** How bodies are read that are too large for one stretch. */
  readonly bodies: LargeBodies;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}
