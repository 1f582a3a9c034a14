import type { Strategy } from '../kind-definition';
import { emptyAsNull } from '../strategies';

const prepare = emptyAsNull('rules');

/** What roles and cluster roles do besides their validation. */
export const rulesStrategy: Strategy = { prepareForCreate: prepare, prepareForUpdate: prepare };
