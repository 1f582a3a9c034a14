import type { KubeObject } from '../object';
import type { Steps } from '../parts';
import { valueAt } from './field-values';
import type { KindDefinition, Strategy, SubresourceDefinition, Verb } from './kind-definition';
import { printLabelSelector } from './label-selector-text';
import { keepSpec } from './strategies';

const READ_AND_WRITE: readonly Verb[] = ['get', 'patch', 'update'];

/** `/status`: reads and writes the whole object, of which only the status changes. */
export function statusSubresource(strategy: Strategy = { prepareForUpdate: keepSpec }): SubresourceDefinition {
  return { name: 'status', verbs: READ_AND_WRITE, strategy };
}

/** A part that reads and writes the whole object under rules of its own (approval). */
export function wholeObjectSubresource(name: string, strategy: Strategy): SubresourceDefinition {
  return { name, verbs: READ_AND_WRITE, strategy };
}

function selectorOf(parent: KubeObject): unknown {
  return valueAt(parent, 'spec', 'selector');
}

/** `/scale`: autoscaling/v1 Scale, read from and written to the parent's spec.replicas. */
export function scaleSubresource(
  printSelector: (selector: object) => Steps<string> = printLabelSelector,
): SubresourceDefinition {
  return {
    name: 'scale',
    verbs: READ_AND_WRITE,
    wireKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    scale: {
      specReplicasPath: ['spec', 'replicas'],
      statusReplicasPath: ['status', 'replicas'],
      selector: selectorOf,
      printSelector,
    },
  };
}

/** A posted kind that acts on the parent (binding, eviction, token). */
export function actionSubresource(name: string, group: string, version: string, kind: string): SubresourceDefinition {
  return { name, verbs: ['create'], wireKind: { group, version, kind } };
}

/** A connection to the parent's node or address; its options come in the query. */
export function connectSubresource(name: string, kind: string, verbs: readonly Verb[]): SubresourceDefinition {
  return { name, verbs, wireKind: { group: '', version: 'v1', kind }, connects: true };
}

/** The kind without one of its parts. */
export function withoutSubresource(definition: KindDefinition, name: string): KindDefinition {
  return { ...definition, subresources: definition.subresources.filter((one) => one.name !== name) };
}

/** What a proxied connection may do, in discovery's order. */
export const PROXY_VERBS: readonly Verb[] = ['create', 'delete', 'get', 'patch', 'update'];
