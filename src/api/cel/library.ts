import type { Overload } from './declarations';
import { functionTable } from './environment';
import { authorizerFunctions } from './functions/authorizer';
import { conversions } from './functions/conversions';
import { listFunctions } from './functions/lists';
import { formatFunctions } from './functions/named-formats';
import { networkFunctions } from './functions/network';
import { operators } from './functions/operators';
import { quantityFunctions } from './functions/quantity';
import { semverFunctions } from './functions/semver';
import { stringFunctions } from './functions/strings';
import { timeFunctions } from './functions/time';
import { urlFunctions } from './functions/url';

let table: ReadonlyMap<string, readonly Overload[]> | undefined;

/** Every function that expressions of the API may call; made when the first is compiled. */
export function kubernetesFunctions(): ReadonlyMap<string, readonly Overload[]> {
  table ??= functionTable([
    ...operators(),
    ...conversions(),
    ...timeFunctions(),
    ...stringFunctions(),
    ...listFunctions(),
    ...authorizerFunctions(),
    ...formatFunctions(),
    ...networkFunctions(),
    ...quantityFunctions(),
    ...semverFunctions(),
    ...urlFunctions(),
  ]);
  return table;
}
