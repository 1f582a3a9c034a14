import { sortedJson } from '../sorted-json';
import { isLarge, type Steps } from '../parts';
import { sortedJson as sortedJsonInSteps } from '../steps/generated/sorted-json';
import { shownText } from '../errors/shown-value';
import { printGoValue } from '../apply/go-text';
import type { ColumnDefinition, TableDefinition } from '../kinds/kind-definition';
import type { JsonValue, KubeObject } from '../object';
import { ageOf } from '../table/age';
import { column, nameColumn, tableOf, type Column } from '../table/table';
import type { PrinterColumn } from './custom-resource-definition';
import { compileJsonPath, type JsonPath } from './json-path';

const AGE: PrinterColumn = {
  name: 'Age',
  type: 'date',
  description: 'The time since the object was created.',
  jsonPath: '.metadata.creationTimestamp',
};

/** The table of a custom kind's version. Its paths are read when it is first asked for: most never are. */
export function customTable(columns?: readonly PrinterColumn[]): TableDefinition {
  let table: TableDefinition | undefined;
  const read = (): TableDefinition => (table ??= readTable(columns));
  return {
    get columns() {
      return read().columns;
    },
    cells: (object, now) => read().cells(object, now),
    get longCells() {
      return read().longCells;
    },
  };
}

/** The name, then what its definition says; without columns of its own, the age. A column whose path cannot be read ends the table. */
function readTable(columns: readonly PrinterColumn[] = []): TableDefinition {
  const read: Column[] = [nameColumn];
  const cellLength = Math.min(MAX_CELL_LENGTH, Math.floor(MAX_ROW_LENGTH / Math.max(columns.length, 1)));
  for (const column of columns.length === 0 ? [AGE] : columns) {
    const path = compileJsonPath(column.jsonPath);
    if (path === undefined) break;
    read.push(printerColumn(column, path, cellLength));
  }
  return tableOf(read);
}

function printerColumn(
  { name, type, format, description, priority, jsonPath }: PrinterColumn,
  path: JsonPath,
  maxLength: number,
): Column {
  const cell = (object: KubeObject, now: number): unknown => {
    const [value] = path(object as unknown as JsonValue);
    return value === undefined ? null : cellOf(type, value, now, maxLength);
  };
  function* cellInSteps(object: KubeObject, now: number): Steps<unknown> {
    const [value] = path(object as unknown as JsonValue);
    yield;
    if (value === undefined) return null;
    if (type !== 'string' || !isLarge(value)) return cellOf(type, value, now, maxLength);
    return shownText(escaped(yield* sortedJsonInSteps(value, maxLength)), maxLength);
  }
  return column(name, description ?? `Custom resource definition column (in JSONPath format): ${jsonPath}`, cell, {
    type: type as ColumnDefinition['type'],
    format: format ?? '',
    priority: priority ?? 0,
    cellInSteps,
  });
}

/** Null where the value is not of the column's type. */
function cellOf(type: string, value: JsonValue, now: number, maxLength: number): unknown {
  switch (type) {
    case 'string':
      return shownText(textOf(value, maxLength), maxLength);
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : typeof value === 'bigint' ? value : null;
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      if (typeof value !== 'string') return null;
      if (value === '' || value === 'null') return ageOf(null, now);
      return Number.isNaN(Date.parse(value)) ? '<invalid>' : ageOf(value, now);
    default:
      return null;
  }
}

/** Of a longer text a cell has the beginning: a row of a hundred with a megabyte each takes tenths of a second to print. */
const MAX_CELL_LENGTH = 16 * 1024;
/** Of all cells of a row: where there are many columns, each has less room. */
const MAX_ROW_LENGTH = 128 * 1024;

const ESCAPED_IN_JSON: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/** Lists and objects as JSON with sorted keys, anything else as Go prints it; not much more than is shown. */
function textOf(value: JsonValue, maxLength: number): string {
  if (value === null) return '<no value>';
  if (typeof value !== 'object') return printGoValue(value);
  return escaped(sortedJson(value, maxLength));
}

function escaped(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, (one) => ESCAPED_IN_JSON[one] ?? one);
}
