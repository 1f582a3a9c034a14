import type { KubeObject } from '../../object';
import type { Pod } from '../../schema/generated/core-v1';
import { ageColumn, column, nameColumn, tableOf, wideColumn } from '../../table/table';
import type { RowCondition } from '../kind-definition';
import { summarizePod } from './pod-status-text';

const NONE = '<none>';

function readinessGates({ spec = {}, status = {} }: Pod): string {
  const gates = spec.readinessGates ?? [];
  if (gates.length === 0) return NONE;
  const open = gates.filter(
    ({ conditionType }) => (status.conditions ?? []).find(({ type }) => type === conditionType)?.status === 'True',
  );
  return `${open.length}/${gates.length}`;
}

const COMPLETIONS: ReadonlyMap<string, RowCondition> = new Map(
  Object.entries({
    Succeeded: {
      type: 'Completed',
      status: 'True',
      reason: 'Succeeded',
      message: 'The pod has completed successfully.',
    },
    Failed: { type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' },
  }),
);

/** Finished pods are marked, so that clients can leave them out. */
function completion(object: KubeObject): readonly RowCondition[] {
  const condition = COMPLETIONS.get((object as Pod).status?.phase ?? '');
  return condition === undefined ? [] : [condition];
}

export const podTable = tableOf(
  [
    nameColumn,
    column('Ready', 'How many containers are ready, of those there are.', (object) => {
      const { ready, total } = summarizePod(object);
      return `${ready}/${total}`;
    }),
    column('Status', 'What the containers are doing, taken together.', (object) => summarizePod(object).status),
    column('Restarts', 'How often containers have been restarted.', (object) => summarizePod(object).restarts, {
      type: 'integer',
    }),
    ageColumn,
    wideColumn(
      'IP',
      "The pod's address; none before it has one.",
      (object) => (object as Pod).status?.podIPs?.[0]?.ip || NONE,
    ),
    wideColumn('Node', 'The node on which the pod runs.', (object) => (object as Pod).spec?.nodeName || NONE),
    wideColumn(
      'Nominated Node',
      'The node where others are being pushed out for this pod.',
      (object) => (object as Pod).status?.nominatedNodeName || NONE,
    ),
    wideColumn('Readiness Gates', 'How many conditions that the pod waits for are met.', (object) =>
      readinessGates(object),
    ),
  ],
  completion,
);
