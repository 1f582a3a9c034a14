import { extend } from '../../extend';
import type { KubeObject } from '../../object';
import { isPlainMap, listAt, mapAt, stringAt, valueAt } from '../field-values';
import { withFields } from '../strategies';
import { defaultTemplateAt } from '../template-defaults';
import { defaultTemplateGeneration } from './template-generation';

/** What every workload of the group has: a pod template with defaults of its own. */
export function defaultWorkloadTemplate(object: KubeObject): KubeObject {
  return defaultTemplateAt(object, 'spec', 'template');
}

/** A rolling update without parameters gets these; with some, the schema fills in the others. */
function defaultRollingUpdate(
  object: KubeObject,
  strategyField: string,
  parameters: Readonly<Record<string, unknown>>,
): KubeObject {
  const strategy = mapAt(object, 'spec', strategyField);
  const type = stringAt(strategy, 'type') || 'RollingUpdate';
  const given = valueAt(strategy, 'rollingUpdate') ?? undefined;
  if (type !== 'RollingUpdate' || given !== undefined) return object;
  return withFields(object, 'spec', { [strategyField]: extend(strategy, { type, rollingUpdate: parameters }) });
}

export function defaultDeployment(object: KubeObject): KubeObject {
  return defaultRollingUpdate(defaultWorkloadTemplate(object), 'strategy', { maxUnavailable: '25%', maxSurge: '25%' });
}

export function defaultDaemonSet(object: KubeObject): KubeObject {
  const templated = defaultTemplateGeneration(defaultWorkloadTemplate(object));
  return defaultRollingUpdate(templated, 'updateStrategy', { maxUnavailable: 1 });
}

const CLAIM_KIND = { kind: 'PersistentVolumeClaim', apiVersion: 'v1' } as const;

/** The claims of a stateful set's template say what they are, as objects of their own do, whatever was sent. */
function nameClaimKinds(object: KubeObject): KubeObject {
  const claims = listAt(object, 'spec', 'volumeClaimTemplates');
  if (claims.length === 0) return object;
  return withFields(object, 'spec', {
    volumeClaimTemplates: claims.map((claim) =>
      isPlainMap(claim) ? { ...CLAIM_KIND, ...claim, ...CLAIM_KIND } : claim,
    ),
  });
}

/** Who names the strategy gets no parameters with it. */
export function defaultStatefulSet(object: KubeObject): KubeObject {
  const defaulted = nameClaimKinds(defaultWorkloadTemplate(object));
  if (stringAt(object, 'spec', 'updateStrategy', 'type') !== '') return defaulted;
  const withType = withFields(defaulted, 'spec', {
    updateStrategy: extend(mapAt(defaulted, 'spec', 'updateStrategy'), { type: 'RollingUpdate' }),
  });
  return defaultRollingUpdate(withType, 'updateStrategy', { partition: 0 });
}
