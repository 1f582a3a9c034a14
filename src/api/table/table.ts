import type { ColumnDefinition, TableDefinition } from '../kinds/kind-definition';
import { fill, isFilledLater } from '../fill-later';
import type { KubeObject } from '../object';
import { atOnce, type Steps } from '../parts';
import { ageOf } from './age';

/** A column together with how its cell is read. `now` is in milliseconds since the epoch. */
export interface Column extends ColumnDefinition {
  readonly cell: (object: KubeObject, now: number) => unknown;
  /** The same where the cell of a large object may be large. */
  readonly cellInSteps?: (object: KubeObject, now: number) => Steps<unknown>;
}

type ColumnOptions = Partial<Pick<Column, 'type' | 'format' | 'priority' | 'cellInSteps'>>;

/** A column of texts that is shown always, unless `options` say otherwise (priority 1: only with `-o wide`). */
export function column(
  name: string,
  description: string,
  cell: Column['cell'],
  { type = 'string', format = '', priority = 0, cellInSteps }: ColumnOptions = {},
): Column {
  const plain = { name, type, format, description, priority, cell };
  return cellInSteps === undefined ? plain : { ...plain, cellInSteps };
}

/** A column that only wide output shows. */
export function wideColumn(name: string, description: string, cell: Column['cell']): Column {
  return column(name, description, cell, { priority: 1 });
}

/** A column whose cell of a large object may be large. */
export function longColumn(
  name: string,
  description: string,
  cell: (object: KubeObject) => Steps<unknown>,
  options: ColumnOptions = {},
): Column {
  return column(name, description, (object) => atOnce(cell(object)), { ...options, cellInSteps: cell });
}

export const nameColumn = column('Name', 'The name of the object.', ({ metadata }) => metadata.name ?? '', {
  format: 'name',
});

export const ageColumn = column('Age', 'The time since the object was created.', ({ metadata }, now) =>
  ageOf(metadata.creationTimestamp, now),
);

/** Kinds without columns of their own show when they were created, as a time and not as an age. */
export const createdAtColumn = column(
  'Created At',
  'The time at which the object was created.',
  ({ metadata }) => metadata.creationTimestamp ?? null,
  { type: 'date' },
);

export function tableOf(columns: readonly Column[], conditions?: TableDefinition['conditions']): TableDefinition {
  const longCells = columns.filter(({ cellInSteps }) => cellInSteps !== undefined).length;
  return {
    columns: columns.map(({ cell: _cell, cellInSteps: _inSteps, ...definition }) => definition),
    cells: (object, now) =>
      isFilledLater() ? cellsFilledLater(columns, object, now) : columns.map(({ cell }) => cell(object, now)),
    longCells: longCells === 0 ? undefined : longCells,
    ...(conditions === undefined ? {} : { conditions }),
  };
}

function cellsFilledLater(columns: readonly Column[], object: KubeObject, now: number): readonly unknown[] {
  const cells: unknown[] = columns.map(({ cell, cellInSteps }) =>
    cellInSteps === undefined ? cell(object, now) : null,
  );
  for (const [index, { cellInSteps }] of columns.entries()) {
    if (cellInSteps !== undefined) fill(setCell(cells, index, cellInSteps(object, now)));
  }
  return cells;
}

function* setCell(cells: unknown[], index: number, steps: Steps<unknown>): Steps<void> {
  cells[index] = yield* steps;
}

export const nameAndCreationTable = tableOf([nameColumn, createdAtColumn]);
