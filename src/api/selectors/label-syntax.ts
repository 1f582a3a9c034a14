/** What a label's key and value may look like, in the words of the API. */

const NAME = /^(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const SUBDOMAIN = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

const NAME_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
  "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and " +
  "end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end " +
  "with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
  "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

const MAX_NAME_LENGTH = 63;
const MAX_PREFIX_LENGTH = 253;

function tooLong(limit: number): string {
  return `must be no more than ${limit} characters`;
}

/** What is wrong with a label's key: none when it is valid. */
export function labelKeyProblems(key: string): readonly string[] {
  const parts = key.split('/');
  if (parts.length > 2) {
    return [`a qualified name ${NAME_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const problems: string[] = [];
  const name = parts.at(-1) ?? '';
  const prefix = parts.length === 2 ? parts[0] : undefined;
  if (prefix === '') problems.push('prefix part must be non-empty');
  else if (prefix !== undefined) {
    if (prefix.length > MAX_PREFIX_LENGTH) problems.push(`prefix part ${tooLong(MAX_PREFIX_LENGTH)}`);
    if (!SUBDOMAIN.test(prefix)) problems.push(`prefix part ${SUBDOMAIN_RULE}`);
  }
  if (name === '') problems.push('name part must be non-empty');
  else if (name.length > MAX_NAME_LENGTH) problems.push(`name part ${tooLong(MAX_NAME_LENGTH)}`);
  if (!NAME.test(name)) problems.push(`name part ${NAME_RULE}`);
  return problems;
}

/** What is wrong with a label's value: none when it is valid. */
export function labelValueProblems(value: string): readonly string[] {
  const problems: string[] = [];
  if (value.length > MAX_NAME_LENGTH) problems.push(tooLong(MAX_NAME_LENGTH));
  if (value !== '' && !NAME.test(value)) problems.push(VALUE_RULE);
  return problems;
}
