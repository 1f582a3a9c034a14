import type { KubeObject } from '../api/object';
import type { FlowSchemaCondition } from '../api/schema/generated/flowcontrol-v1beta1';
import { readSchema } from './configuration';

/** The schema with its condition Dangling as it should be; undefined: it is. `now`: as the API writes times. */
export function withDangling(
  schema: KubeObject,
  levelExists: (name: string) => boolean,
  now: string,
): KubeObject | undefined {
  const { level } = readSchema(schema);
  const exists = levelExists(level);
  const wanted = {
    type: 'Dangling',
    status: exists ? 'False' : 'True',
    reason: exists ? 'Found' : 'NotFound',
    message: `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)} ${exists ? 'and it exists' : 'but there is no such object'}`,
  };
  const status = schema['status'] as { readonly conditions?: readonly FlowSchemaCondition[] } | undefined;
  const conditions = status?.conditions ?? [];
  const current = conditions.find(({ type }) => type === wanted.type);
  const isSame = current?.status === wanted.status;
  if (isSame && current.reason === wanted.reason && current.message === wanted.message) return undefined;
  const changed = { ...wanted, lastTransitionTime: isSame ? (current.lastTransitionTime ?? now) : now };
  const others = conditions.filter(({ type }) => type !== wanted.type);
  return { ...schema, status: { ...status, conditions: [...others, changed] } };
}
