import { forbiddenField, invalid, required, type FieldError } from '../errors/field-error';
import { checkEach, checkInSteps, checkThen } from './check-each';
import type { LabelSelector, LabelSelectorRequirement } from '../schema/generated/meta-v1';
import { keysOf, type Steps } from '../parts';
import { isPauseDue } from '../steps/pace';
import { labelValueProblems, qualifiedNameProblems } from './label-syntax';
import { validateLabels } from './object-meta';

function validateOperator({ operator, values = [] }: LabelSelectorRequirement, path: string): readonly FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values?.length ? [] : [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      return values?.length
        ? [forbiddenField(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")]
        : [];
    default:
      return [invalid(`${path}.operator`, operator ?? '', 'not a valid selector operator')];
  }
}

function validateRequirement(requirement: LabelSelectorRequirement, path: string): readonly FieldError[] {
  const key = requirement.key ?? '';
  return [
    ...validateOperator(requirement, path),
    ...qualifiedNameProblems(key).map((problem) => invalid(`${path}.key`, key, problem)),
  ];
}

/** The problems of a label selector at `path`; an absent one has none. Values of expressions are not looked at. */
export function validateLabelSelector(selector: LabelSelector | null | undefined, path: string): readonly FieldError[] {
  if (selector === undefined || selector === null) return [];
  return [
    ...validateLabels(selector.matchLabels, `${path}.matchLabels`),
    ...checkEach(selector.matchExpressions, (requirement, index) =>
      validateRequirement(requirement, `${path}.matchExpressions[${index}]`),
    ),
  ];
}

/** Why a selector cannot be evaluated: in addition to its form, its values are label values. */
function usabilityProblems(selector: LabelSelector | null | undefined): readonly FieldError[] {
  return [
    ...validateLabelSelector(selector, ''),
    ...checkEach(selector?.matchExpressions, ({ values }) =>
      checkEach(values, (value) => labelValueProblems(value).map((problem) => invalid('', value, problem))),
    ),
  ];
}

/** For rules that rest on whether a selector can be evaluated. */
export function checkUsable(
  selector: LabelSelector | null | undefined,
  next: (isUsable: boolean) => readonly FieldError[],
): readonly FieldError[] {
  return checkThen(
    () => usabilityProblems(selector),
    (problems) => next(problems.length === 0),
  );
}

/** True of a selector that asks for nothing. */
export function isEmptySelector({ matchLabels, matchExpressions }: LabelSelector): boolean {
  return keysOf(matchLabels ?? {}).length === 0 && (matchExpressions ?? []).length === 0;
}

type Labels = Readonly<Record<string, string>>;

function requirementMatches({ key = '', operator, values }: LabelSelectorRequirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  const listed = value !== undefined && (values ?? []).includes(value);
  switch (operator) {
    case 'In':
      return listed;
    case 'NotIn':
      return !listed;
    case 'Exists':
      return value !== undefined;
    default:
      return value === undefined;
  }
}

/** No selector selects nothing, an empty one everything. */
function* selects(selector: LabelSelector | null | undefined, labels: Labels): Steps<boolean> {
  if (selector === undefined || selector === null) return false;
  const wanted = selector.matchLabels ?? {};
  for (const key of keysOf(wanted)) {
    if (isPauseDue()) yield;
    if (!Object.hasOwn(labels, key) || labels[key] !== wanted[key]) return false;
  }
  for (const requirement of selector.matchExpressions ?? []) {
    if (isPauseDue()) yield;
    if (!requirementMatches(requirement, labels)) return false;
  }
  return true;
}

/** What `refuse` says where a selector does not match. */
export function checkSelected(
  selector: LabelSelector | null | undefined,
  labels: Labels | undefined,
  refuse: () => readonly FieldError[],
): readonly FieldError[] {
  return checkInSteps(function* () {
    return (yield* selects(selector, labels ?? {})) ? [] : refuse();
  });
}
