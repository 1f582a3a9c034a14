import type { MetadataCheck, Strategy } from '../kind-definition';
import { emptyAsNull } from '../strategies';

/** Roles and bindings are checked as new ones are, and once more before what changes is looked at. */
export const RULES_METADATA: readonly MetadataCheck[] = ['own', 'own', 'change'];

const prepare = emptyAsNull('rules');

/** What roles and cluster roles do besides their validation. */
export const rulesStrategy: Strategy = { prepareForCreate: prepare, prepareForUpdate: prepare };
