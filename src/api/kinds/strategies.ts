import { extend } from '../extend';
import type { KubeObject } from '../object';
import { changeFields, parseFieldPath } from './field-path';
import { mapAt } from './field-values';
import type { KindDefinition, Strategy } from './kind-definition';

/**
 * The usual parts of strategies (API conventions, "Spec and status"): a status is written by its subresource only, and
 * the subresource writes nothing else.
 */

/** A create starts from this status, whatever was sent: `{}`, or with the fields that the API always shows. */
export function resetStatus(initial: Readonly<Record<string, unknown>> = {}): (object: KubeObject) => KubeObject {
  return (object) => ({ ...object, status: initial });
}

/** An update of the object itself leaves its status as it was. */
export function keepStatus(object: KubeObject, old: KubeObject): KubeObject {
  return keepField(object, old, 'status');
}

/** An update of the status leaves the spec as it was. */
export function keepSpec(object: KubeObject, old: KubeObject): KubeObject {
  return keepField(object, old, 'spec');
}

const METADATA_OF_THE_OBJECT = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const;

/** An update of the status that may touch no metadata either (custom resource definitions, flow schemas). */
export function keepSpecAndMetadata(object: KubeObject, old: KubeObject): KubeObject {
  const kept = METADATA_OF_THE_OBJECT.map((name) => [name, old.metadata[name]] as const);
  return keepSpec(withFields(object, 'metadata', Object.fromEntries(kept)), old);
}

/** An update of the status of deployments leaves the labels too. */
export function keepSpecAndLabels(object: KubeObject, old: KubeObject): KubeObject {
  const { labels: _sent, ...metadata } = object.metadata;
  const labels = old.metadata.labels;
  return keepSpec({ ...object, metadata: labels === undefined ? metadata : { ...metadata, labels } }, old);
}

/** The object with one field as the old object has it; absent there, absent here. */
export function keepField(object: KubeObject, old: KubeObject, field: string): KubeObject {
  if (old[field] !== undefined) return { ...object, [field]: old[field] };
  const { [field]: _sent, ...rest } = object;
  return rest as KubeObject;
}

/** The object with fields of a nested map replaced; a value of undefined removes. */
export function withFields(object: KubeObject, field: string, changes: Readonly<Record<string, unknown>>): KubeObject {
  const entries = Object.entries(extend(mapAt(object, field), changes)).filter(([, value]) => value !== undefined);
  return { ...object, [field]: Object.fromEntries(entries) };
}

/**
 * Empty lists in fields that are always shown are stored as null, which is what clients have always read for none:
 * Protobuf, in which kube-apiserver stores, cannot tell them apart. Paths as in {@link parseFieldPath}.
 */
export function emptyAsNull(...paths: readonly string[]): (object: KubeObject) => KubeObject {
  const parsed = paths.map(parseFieldPath);
  return (object) =>
    parsed.reduce(
      (result, path) => changeFields(result, path, (list) => (Array.isArray(list) && list.length === 0 ? null : list)),
      object,
    );
}

/** Create and update of a kind whose status belongs to its subresource. */
export function specStrategy(initialStatus: Readonly<Record<string, unknown>> = {}): Strategy {
  return { prepareForCreate: resetStatus(initialStatus), prepareForUpdate: keepStatus };
}

/** The kind with every strategy changed that writes its spec: its own, and that of a pod's ephemeral containers. */
export function withSpecStrategies(
  definition: KindDefinition,
  change: (strategy: Strategy) => Strategy,
): KindDefinition {
  return {
    ...definition,
    strategy: change(definition.strategy),
    subresources: definition.subresources.map((one) =>
      one.name === 'ephemeralcontainers' && one.strategy !== undefined
        ? { ...one, strategy: change(one.strategy) }
        : one,
    ),
  };
}
