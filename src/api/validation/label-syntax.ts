import { dns1123SubdomainProblems, MAX_READ_LENGTH } from './names';
import { byteLength, EMPTY_PROBLEM, lengthProblem, patternProblem } from './syntax-error';

/** The syntax of label keys, label values and other qualified names (Kubernetes documentation, "Labels and Selectors"). */

const NAME_MAX_BYTES = 63;
const NO_PROBLEMS: readonly string[] = [];
const QUALIFIED_NAME = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const LABEL_VALUE = `(${QUALIFIED_NAME})?`;

const qualifiedNamePattern = new RegExp(`^(?:${QUALIFIED_NAME})$`);
const labelValuePattern = new RegExp(`^(?:${LABEL_VALUE})$`);

const QUALIFIED_NAME_PROBLEM = patternProblem(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  QUALIFIED_NAME,
  'MyName',
  'my.name',
  '123-abc',
);
const LABEL_VALUE_PROBLEM = patternProblem(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  LABEL_VALUE,
  'MyValue',
  'my_value',
  '12345',
);

/** `name` or `dns.subdomain/name`: keys of labels and annotations, finalizers. Empty list: valid. */
export function qualifiedNameProblems(value: string): readonly string[] {
  if (value.length <= NAME_MAX_BYTES && qualifiedNamePattern.test(value)) return NO_PROBLEMS;
  const parts = value.split('/', 3);
  if (parts.length > 2) {
    return [
      `a qualified name ${QUALIFIED_NAME_PROBLEM} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1) ?? '';
  return [...(parts.length === 2 ? prefixProblems(parts[0] ?? '') : []), ...namePartProblems(name)];
}

function prefixProblems(prefix: string): readonly string[] {
  const problems = prefix === '' ? [EMPTY_PROBLEM] : dns1123SubdomainProblems(prefix);
  return problems.map((problem) => `prefix part ${problem}`);
}

function namePartProblems(name: string): readonly string[] {
  const problems: string[] = [];
  if (name === '') problems.push(EMPTY_PROBLEM);
  else if (byteLength(name) > NAME_MAX_BYTES) problems.push(lengthProblem(NAME_MAX_BYTES));
  if (name.length <= MAX_READ_LENGTH && !qualifiedNamePattern.test(name)) problems.push(QUALIFIED_NAME_PROBLEM);
  return problems.map((problem) => `name part ${problem}`);
}

/** Empty list: valid. */
export function labelValueProblems(value: string): readonly string[] {
  if (value.length <= NAME_MAX_BYTES && labelValuePattern.test(value)) return NO_PROBLEMS;
  const problems: string[] = [];
  if (byteLength(value) > NAME_MAX_BYTES) problems.push(lengthProblem(NAME_MAX_BYTES));
  if (value.length <= MAX_READ_LENGTH && !labelValuePattern.test(value)) problems.push(LABEL_VALUE_PROBLEM);
  return problems;
}
