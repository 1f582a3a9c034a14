import type { Overload } from './declarations';
import type { Type } from './types';

/** The names that an expression may use: functions of all libraries, and the variables of the place where it stands. */
export interface Environment {
  readonly functions: ReadonlyMap<string, readonly Overload[]>;
  readonly variables: ReadonlyMap<string, Type>;
}

export function functionTable(overloads: readonly Overload[]): ReadonlyMap<string, readonly Overload[]> {
  const table = new Map<string, Overload[]>();
  for (const overload of overloads) {
    const same = table.get(overload.name);
    if (same === undefined) table.set(overload.name, [overload]);
    else same.push(overload);
  }
  return table;
}
