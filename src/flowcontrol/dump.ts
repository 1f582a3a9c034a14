import type { FlowRequest } from './flow-request';
import type { PriorityAndFairness } from './priority-and-fairness';
import type { PriorityLevel } from './priority-level';

/**
 * The tables at /debug/api_priority_and_fairness/, in kube-apiserver's form: cells end in a comma, and columns are as wide as
 * their longest cell.
 */

type Row = readonly (string | number | boolean)[];

const NONE = '<none>';
const MIN_CELL = 8;

/** Lines that a table has at most; more would be a burden just when it is looked at. */
const MAX_ROWS = 10_000;

export function dumpPriorityLevels({ levels }: PriorityAndFairness): string {
  const header = [
    'PriorityLevelName',
    'ActiveQueues',
    'IsIdle',
    'IsQuiescing',
    'WaitingRequests',
    'ExecutingRequests',
    'DispatchedRequests',
    'RejectedRequests',
    'TimedoutRequests',
    'CancelledRequests',
  ];
  return table(header, levels.map(levelRow));
}

function levelRow(level: PriorityLevel): Row {
  const { name, waiting, executing, isQuiescing, busyQueues, dispatched, rejected } = level;
  const isIdle = waiting === 0 && executing === 0;
  const turnedAway = rejected['queue-full'] + rejected['concurrency-limit'];
  const ended = [turnedAway, rejected['time-out'], rejected.cancelled];
  return [name, busyQueues, isIdle, isQuiescing, waiting, executing, dispatched, ...ended];
}

export function dumpQueues({ levels }: PriorityAndFairness): string {
  const header = [
    'PriorityLevelName',
    'Index',
    'PendingRequests',
    'ExecutingRequests',
    'SeatsInUse',
    'NextDispatchR',
    'InitialSeatsSum',
    'MaxSeatsSum',
    'TotalWorkSum',
  ];
  const rows = levels.flatMap((level): readonly Row[] => {
    if (level.queuing === undefined) return [[level.name, ...header.slice(1).map(() => NONE)]];
    return level.queues.map((queue) => {
      const { index, length, executing, seatsInUse, nextDispatch, waitingSeats } = queue;
      let seats = 0;
      let work = 0;
      for (const request of queue) {
        seats += request.work.seats;
        work += request.work.finalSeats * request.work.finalMs;
      }
      const sums = [seats, waitingSeats, seatSeconds(work)];
      return [level.name, index, length, executing, seatsInUse, seatSeconds(nextDispatch), ...sums];
    });
  });
  return table(header, rows);
}

export function dumpRequests({ levels }: PriorityAndFairness, hasDetails: boolean): string {
  const header = [
    'PriorityLevelName',
    'FlowSchemaName',
    'QueueIndex',
    'RequestIndexInQueue',
    'FlowDistingsher',
    'ArriveTime',
    'InitialSeats',
    'FinalSeats',
    'AdditionalLatency',
    ...(hasDetails
      ? ['UserName', 'Verb', 'APIPath', 'Namespace', 'Name', 'APIVersion', 'Resource', 'SubResource']
      : []),
  ];
  const rows: Row[] = [];
  for (const level of levels) {
    if (level.queuing === undefined) rows.push([level.name, ...header.slice(1).map(() => NONE)]);
    for (const queue of level.queues) {
      let index = 0;
      for (const request of queue) {
        if (rows.length >= MAX_ROWS) return table(header, rows);
        rows.push(requestRow(request, queue.index, index++, hasDetails));
      }
    }
  }
  return table(header, rows);
}

function requestRow(request: FlowRequest, queue: number, index: number, hasDetails: boolean): Row {
  const { level, schema, flow, arrivedAt, work, user, attributes } = request;
  const arrived = new Date(performance.timeOrigin + arrivedAt).toISOString();
  const row = [level.name, schema.name, queue, index, flow, arrived, work.seats, work.finalSeats, `${work.finalMs}ms`];
  if (!hasDetails) return row;
  const { verb, path, namespace, name, version, resource, subresource } = attributes;
  return [...row, user.name, verb, path, namespace, name, version, resource, subresource];
}

function seatSeconds(seatMs: number): string {
  return `${(seatMs / 1000).toFixed(8)}ss`;
}

function table(header: readonly string[], rows: readonly Row[]): string {
  const cells = [header, ...rows].map((row) => row.map((cell) => `${oneLine(String(cell))},`));
  const widths = header.map((_, column) => cells.reduce((most, row) => Math.max(most, row[column]!.length), 0));
  return cells
    .map((row) => row.map((cell, column) => cell.padEnd(Math.max(MIN_CELL, widths[column]! + 1))).join(''))
    .map((line) => `${line}\n`)
    .join('');
}

/** Clients choose some of the texts. */
function oneLine(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, (character) => JSON.stringify(character).slice(1, -1)).slice(0, 1024);
}
