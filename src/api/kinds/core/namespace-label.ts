import { mergedMap } from '../../merged-map';
import type { KubeObject } from '../../object';
import type { KindDefinition } from '../kind-definition';

const NAME_LABEL = 'kubernetes.io/metadata.name';

/** The namespace with its name as a label, whatever its labels said of it. */
function withNameLabel(object: KubeObject): KubeObject {
  const { name, labels } = object.metadata;
  if (name === undefined || name === '' || labels?.[NAME_LABEL] === name) return object;
  return { ...object, metadata: { ...object.metadata, labels: mergedMap(labels ?? {}, { [NAME_LABEL]: name }) } };
}

export function hasNameLabel({ metadata: { name, labels } }: KubeObject): boolean {
  return labels?.[NAME_LABEL] === name;
}

/**
 * Namespaces under the gate `NamespaceDefaultLabelName`: selectors can name one by a label that cannot be taken away
 * (NetworkPolicies, webhooks). The label is a default of what is sent, and is set again on what a patch makes.
 */
export function labelledNamespace(namespace: KindDefinition): KindDefinition {
  const { applyDefaults, strategy } = namespace;
  const { prepareForCreate, prepareForUpdate } = strategy;
  return {
    ...namespace,
    applyDefaults: (object, version) => withNameLabel(applyDefaults?.(object, version) ?? object),
    strategy: {
      ...strategy,
      // A generated name is known only here.
      prepareForCreate: (object, request) => withNameLabel(prepareForCreate?.(object, request) ?? object),
      prepareForUpdate: (object, old, request) => withNameLabel(prepareForUpdate?.(object, old, request) ?? object),
    },
  };
}
