import { DEFAULT_RELEASE } from '../api/kubernetes-release';
import { abacAuthorizer, abacRules, parseAbacPolicies } from '../authz/abac';
import type { Authorizer } from '../authz/attributes';
import { alwaysAllow, alwaysDeny, authorizeInOrder } from '../authz/modes';
import { listRulesOfNode, nodeAuthorizer } from '../authz/node';
import { NodeGraph } from '../authz/node-graph';
import { RbacAuthorizer, type RbacKind } from '../authz/rbac';
import type { PolicyRule } from '../authz/rbac-rules';
import { listEverything, listNothingOfWebhook, listRulesOfAll, type RuleLister } from '../authz/rules-review';
import { webhookAuthorizer, type ReviewVersion } from '../authz/webhook';
import { defaultRbacObjects } from '../bootstrap/default-rbac';
import { changingWebhookClient } from '../client/changing-webhook-client';
import { readNamedText } from '../files/named-file';
import type { ResourceSink } from '../resources/resource-feed';

export const AUTHORIZATION_MODES = ['ABAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook'] as const;
export type AuthorizationMode = (typeof AUTHORIZATION_MODES)[number];

export interface AuthorizationOptions {
  /** In the order in which they are asked. */
  readonly modes: readonly AuthorizationMode[];
  /** For ABAC. */
  readonly policyFile: string;
  /** For Webhook. */
  readonly webhook?: {
    readonly configFile: string;
    readonly version: ReviewVersion;
    readonly allowedTtlMs: number;
    readonly refusedTtlMs: number;
  };
}

/** The authorizers, and what keeps them up to date. */
export interface Authorization {
  readonly authorize: Authorizer;
  readonly listRules: RuleLister;
  /** Also where RBAC is not among the modes: writes of roles are checked in every mode. */
  readonly rbac: RbacAuthorizer;
  readonly sinks: readonly ResourceSink[];
  close(): void;
}

const RBAC_RESOURCES: readonly (readonly [string, RbacKind])[] = [
  ['clusterroles', 'ClusterRole'],
  ['clusterrolebindings', 'ClusterRoleBinding'],
  ['roles', 'Role'],
  ['rolebindings', 'RoleBinding'],
];

function rbacSinks(rbac: RbacAuthorizer): readonly ResourceSink[] {
  return RBAC_RESOURCES.map(([storagePrefix, kind]) => ({
    storagePrefix,
    put: (object) => rbac.put(kind, object),
    delete: (object) => rbac.delete(kind, object),
  }));
}

function graphSinks(graph: NodeGraph): readonly ResourceSink[] {
  return [
    { storagePrefix: 'pods', put: (pod) => graph.putPod(pod), delete: (pod) => graph.deletePod(pod) },
    {
      storagePrefix: 'persistentvolumes',
      put: (volume) => graph.putVolume(volume),
      delete: (volume) => graph.deleteVolume(volume),
    },
    {
      storagePrefix: 'volumeattachments',
      put: (attachment) => graph.putAttachment(attachment),
      delete: (attachment) => graph.deleteAttachment(attachment),
    },
  ];
}

/** What every node may do, apart from what is decided object by object: the default role of nodes. */
function nodeRules(): readonly PolicyRule[] {
  const role = defaultRbacObjects(DEFAULT_RELEASE).find(
    ({ resource, object }) => resource === 'clusterroles' && object.metadata.name === 'system:node',
  );
  return (role?.object.rules as readonly PolicyRule[] | undefined) ?? [];
}

/** Builds the authorizers of the modes. Throws when a file cannot be read or understood. */
export function createAuthorization(options: AuthorizationOptions): Authorization {
  const rbac = new RbacAuthorizer();
  const graph = new NodeGraph();
  const { modes, webhook, policyFile } = options;
  const policies = modes.includes('ABAC')
    ? parseAbacPolicies(readNamedText(policyFile, 'authorization-policy-file'), policyFile)
    : [];
  const peer =
    modes.includes('Webhook') && webhook !== undefined ? changingWebhookClient(webhook.configFile) : undefined;
  const parts = modes.flatMap((mode): readonly (readonly [Authorizer, RuleLister])[] => {
    switch (mode) {
      case 'AlwaysAllow':
        return [[alwaysAllow, listEverything]];
      case 'AlwaysDeny':
        return [[alwaysDeny, () => ({ rules: [], incomplete: false })]];
      case 'RBAC':
        return [[rbac.authorize, (user, namespace) => rbac.rulesFor(user, namespace)]];
      case 'Node':
        return [[nodeAuthorizer(graph, nodeRules()), listRulesOfNode]];
      case 'ABAC':
        return [[abacAuthorizer(policies), abacRules(policies)]];
      case 'Webhook':
        if (webhook === undefined || peer === undefined)
          throw new Error('the authorization webhook has no configuration');
        return [
          [webhookAuthorizer({ ...webhook, post: peer.post, clock: () => performance.now() }), listNothingOfWebhook],
        ];
    }
  });
  return {
    authorize: authorizeInOrder(parts.map(([authorize]) => authorize)),
    listRules: listRulesOfAll(parts.map(([, list]) => list)),
    rbac,
    sinks: [...rbacSinks(rbac), ...(modes.includes('Node') ? graphSinks(graph) : [])],
    close: () => peer?.close(),
  };
}
