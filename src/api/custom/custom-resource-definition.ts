import type { KubeObject } from '../object';
import type { WebhookClientConfig } from '../webhook-target';
import type { JsonSchema } from './json-schema';

/** A CustomResourceDefinition as it stands in storage (apiextensions.k8s.io/v1), as far as serving it needs. */
export interface CustomResourceDefinition extends KubeObject {
  readonly spec: {
    readonly group: string;
    readonly scope: 'Namespaced' | 'Cluster';
    readonly names: ResourceNames;
    readonly versions: readonly CustomVersion[];
    /** Of definitions that were made in v1beta1: nothing is pruned. */
    readonly preserveUnknownFields?: boolean;
    readonly conversion?: CustomConversion;
  };
  readonly status?: CustomResourceDefinitionStatus;
}

export interface CustomConversion {
  readonly strategy?: string;
  readonly webhook?: {
    readonly clientConfig?: WebhookClientConfig | null;
    readonly conversionReviewVersions?: readonly string[] | null;
  } | null;
}

export interface ResourceNames {
  readonly plural: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly kind: string;
  readonly listKind?: string;
  readonly categories?: readonly string[];
}

export interface CustomVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: JsonSchema };
  readonly subresources?: {
    readonly status?: object;
    readonly scale?: ScalePaths;
  };
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly lastTransitionTime?: string | null;
  readonly reason?: string;
  readonly message?: string;
}

export interface CustomResourceDefinitionStatus {
  readonly conditions?: readonly Condition[] | null;
  readonly acceptedNames?: ResourceNames;
  readonly storedVersions?: readonly string[];
}

/** Holds a deleted definition until its objects are gone. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

export function conditionOf({ status }: CustomResourceDefinition, type: string): Condition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

export function hasCondition(crd: CustomResourceDefinition, type: string): boolean {
  return conditionOf(crd, type)?.status === 'True';
}

/** Objects of one version are made into those of another by a webhook. */
export function isConvertedByWebhook({ spec: { conversion, versions } }: CustomResourceDefinition): boolean {
  return conversion?.strategy === 'Webhook' && versions.length > 1;
}

/** The version that objects are stored in. Validation has seen to it that there is one. */
export function storageVersionOf({ metadata, spec }: CustomResourceDefinition): string {
  const version = spec.versions.find(({ storage }) => storage);
  if (version === undefined) throw new Error(`${metadata.name ?? ''} has no storage version`);
  return version.name;
}
