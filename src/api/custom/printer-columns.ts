import type { ColumnDefinition, TableDefinition } from '../kinds/kind-definition';
import type { JsonValue, KubeObject } from '../object';
import { ageOf } from '../table/age';
import { column, nameColumn, tableOf, type Column } from '../table/table';
import type { PrinterColumn } from './custom-resource-definition';
import { compileJsonPath } from './json-path';

const AGE: PrinterColumn = {
  name: 'Age',
  type: 'date',
  description: 'The time since the object was created.',
  jsonPath: '.metadata.creationTimestamp',
};

/** The table of a custom kind's version: the name, then what its definition says; without columns of its own, the age. */
export function customTable(columns: readonly PrinterColumn[] = []): TableDefinition {
  return tableOf([nameColumn, ...(columns.length === 0 ? [AGE] : columns).map(printerColumn)]);
}

function printerColumn({ name, type, format, description, priority, jsonPath }: PrinterColumn): Column {
  const path = compileJsonPath(jsonPath);
  const cell = (object: KubeObject, now: number): unknown => {
    const [value] = path(object as unknown as JsonValue);
    return value === undefined || value === null ? null : cellOf(type, value, now);
  };
  return column(name, description ?? `Custom resource definition column (in JSONPath format): ${jsonPath}`, cell, {
    type: type as ColumnDefinition['type'],
    format: format ?? '',
    priority: priority ?? 0,
  });
}

/** Null where the value is not of the column's type. */
function cellOf(type: string, value: JsonValue, now: number): unknown {
  switch (type) {
    case 'string':
      return typeof value === 'string' ? value : JSON.stringify(value);
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      if (typeof value !== 'string') return null;
      return Number.isNaN(Date.parse(value)) ? '<invalid>' : ageOf(value, now);
    default:
      return null;
  }
}
