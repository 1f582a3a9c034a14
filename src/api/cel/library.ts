import type { Overload } from './declarations';
import { functionTable } from './environment';
import { conversions } from './functions/conversions';
import { listFunctions } from './functions/lists';
import { operators } from './functions/operators';
import { stringFunctions } from './functions/strings';
import { timeFunctions } from './functions/time';

let table: ReadonlyMap<string, readonly Overload[]> | undefined;

/** Every function that expressions of the API may call; made when the first is compiled. */
export function kubernetesFunctions(): ReadonlyMap<string, readonly Overload[]> {
  table ??= functionTable([
    ...operators(),
    ...conversions(),
    ...timeFunctions(),
    ...stringFunctions(),
    ...listFunctions(),
  ]);
  return table;
}
