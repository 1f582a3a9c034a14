import type { KubeObject } from '../../object';
import { keysOf } from '../../parts';
import { mapAt } from '../field-values';
import { withFields } from '../strategies';
import { defaultTemplateAt } from '../template-defaults';

/** Without selector or labels of its own, a replication controller takes those of its template. */
export function defaultReplicationController(object: KubeObject): KubeObject {
  const templated = defaultTemplateAt(object, 'spec', 'template');
  const labels = mapAt(templated, 'spec', 'template', 'metadata', 'labels');
  if (keysOf(labels).length === 0) return templated;
  const selected =
    keysOf(mapAt(templated, 'spec', 'selector')).length === 0
      ? withFields(templated, 'spec', { selector: labels })
      : templated;
  if (keysOf(selected.metadata.labels ?? {}).length > 0) return selected;
  return { ...selected, metadata: { ...selected.metadata, labels: labels as Readonly<Record<string, string>> } };
}
