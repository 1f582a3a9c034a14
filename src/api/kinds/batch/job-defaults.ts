import type { KubeObject } from '../../object';
import { keysOf } from '../../parts';
import { mapAt, valueAt } from '../field-values';
import { withFields } from '../strategies';
import { defaultTemplateAt } from '../template-defaults';

const DEFAULT_BACKOFF_LIMIT = 6;

/** A job without labels has those of its pods. */
export function labelLikeTemplate(job: KubeObject): KubeObject {
  if (keysOf(job.metadata.labels ?? {}).length > 0) return job;
  const labels = mapAt(job, 'spec', 'template', 'metadata', 'labels') as Readonly<Record<string, string>>;
  return keysOf(labels).length === 0 ? job : { ...job, metadata: { ...job.metadata, labels } };
}

/** A job that says neither how many completions nor how much parallelism it wants, wants one of each. */
export function defaultJob(object: KubeObject): KubeObject {
  const templated = labelLikeTemplate(defaultTemplateAt(object, 'spec', 'template'));
  const completions = valueAt(templated, 'spec', 'completions') ?? undefined;
  const parallelism = valueAt(templated, 'spec', 'parallelism') ?? undefined;
  return withFields(templated, 'spec', {
    parallelism: parallelism ?? 1,
    completions: completions === undefined && parallelism === undefined ? 1 : completions,
    backoffLimit: valueAt(templated, 'spec', 'backoffLimit') ?? DEFAULT_BACKOFF_LIMIT,
  });
}

/** The job template of a cron job gets its pod template's defaults only; the rest follows when a job is made of it. */
export function defaultCronJob(object: KubeObject): KubeObject {
  return defaultTemplateAt(object, 'spec', 'jobTemplate', 'spec', 'template');
}
