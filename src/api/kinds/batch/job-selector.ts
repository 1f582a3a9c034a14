import { mergedMap } from '../../merged-map';
import type { KubeObject } from '../../object';
import { booleanAt, mapAt } from '../field-values';
import { withFields } from '../strategies';

const UID_LABEL = 'controller-uid';
const NAME_LABEL = 'job-name';

/**
 * Unless the client asks to choose it (`manualSelector`), a job selects its pods by its own uid, which its template
 * gets as a label. What the client has set is left, for validation to refuse.
 */
export function generateSelector(job: KubeObject): KubeObject {
  if (booleanAt(job, 'spec', 'manualSelector')) return job;
  const uid = job.metadata.uid ?? '';
  const template = mapAt(job, 'spec', 'template');
  const metadata = mapAt(template, 'metadata');
  const own = { [UID_LABEL]: uid, [NAME_LABEL]: job.metadata.name ?? '' };
  const labels = mergedMap<unknown>(own, mapAt(metadata, 'labels'));
  const selector = mapAt(job, 'spec', 'selector');
  const matchLabels = mergedMap<unknown>({ [UID_LABEL]: uid }, mapAt(selector, 'matchLabels'));
  return withFields(job, 'spec', {
    selector: { ...selector, matchLabels },
    template: { ...template, metadata: { ...metadata, labels } },
  });
}
