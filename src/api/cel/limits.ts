/** Units of cost, as in Kubernetes. What an expression may be estimated to cost at most. */
export const MAX_ESTIMATE = 10_000_000;
/** All expressions of a schema together. */
export const MAX_ESTIMATE_OF_SCHEMA = 100_000_000;
/** What one evaluation may spend. */
export const CALL_LIMIT = 1_000_000;
/** All evaluations for one object. */
export const OBJECT_BUDGET = 10_000_000;
/** All match conditions of one webhook or policy for one request. */
export const CONDITIONS_BUDGET = 2_500_000;
/**
 * Between two looks at whether others wait. A unit takes 10 to 150 nanoseconds, 400 where each step fails, and 900 in patterns:
 * at most two milliseconds.
 */
export const UNITS_AT_ONCE = 2_000;
