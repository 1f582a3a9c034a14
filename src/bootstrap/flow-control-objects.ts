import { deepEqual } from '../api/kinds/deep-equal';
import type { KubeObject } from '../api/object';
import flowControl from '../flowcontrol/default-configuration.json';
import { CATCH_ALL, EXEMPT } from '../flowcontrol/configuration';
import type { DefaultObject } from './default-objects';

export const FLOW_CONTROL_GROUP = 'flowcontrol.apiserver.k8s.io';
/** The parts of kube-apiserver that make these objects and go by them are managers of their own. */
const PRODUCER = 'api-priority-and-fairness-config-producer-v1';
export const FLOW_CONTROL_CONSUMER = 'api-priority-and-fairness-config-consumer-v1';
/** `"true"`: the server keeps the spec up to date; `"false"`: it is the administrator's. */
const AUTOUPDATE = 'apf.kubernetes.io/autoupdate-spec';

function objectsOf(
  kind: string,
  resource: string,
  rows: readonly { readonly name: string; readonly spec: object }[],
): readonly DefaultObject[] {
  return rows.map(({ name, spec }) => ({
    group: FLOW_CONTROL_GROUP,
    resource,
    manager: PRODUCER,
    object: { kind, apiVersion: `${FLOW_CONTROL_GROUP}/v1beta1`, metadata: { name }, spec, status: {} },
  }));
}

/** The priority levels and flow schemas of a fresh cluster, in the order of their creation. */
export function flowControlObjects(): readonly DefaultObject[] {
  return [
    ...objectsOf('PriorityLevelConfiguration', 'prioritylevelconfigurations', flowControl.PriorityLevelConfiguration),
    ...objectsOf('FlowSchema', 'flowschemas', flowControl.FlowSchema),
  ];
}

/** Without these there might be no user who can set the others right. */
export function isMandatory({ object }: DefaultObject): boolean {
  return object.metadata.name === EXEMPT || object.metadata.name === CATCH_ALL;
}

/**
 * What an existing default object should become, or undefined when it is as it should be. Those that every cluster must have are
 * restored; a suggested one is an administrator's once he has changed it or says so with the annotation.
 */
export function reconcileFlowControl(existing: KubeObject, wanted: DefaultObject): KubeObject | undefined {
  const { annotations, generation } = existing.metadata;
  const choice = annotations?.[AUTOUPDATE];
  const isOurs = choice === 'true' || (choice === undefined && (generation ?? 1) <= 1);
  if (!isMandatory(wanted) && !isOurs) return undefined;
  const { spec } = wanted.object;
  if (deepEqual(existing['spec'], spec)) return undefined;
  // A changed spec is another generation, which without a word about it would be taken for an administrator's.
  const metadata = { ...existing.metadata, annotations: { ...annotations, [AUTOUPDATE]: 'true' } };
  return { ...existing, metadata, spec };
}
