import { byteLength, lengthProblem, patternProblem } from './syntax-error';

/**
 * What names must look like (API conventions, "Names"; RFC 1123 and RFC 1035). The `...Problems` functions check a
 * value; the `...Name` functions are a kind's `validateName`: with `prefix` they check a `generateName`, which may end
 * where a name may not, since a suffix follows. All give the problems' texts, an empty list for none.
 */

/** Of longer texts only that is told: to see whether a million labels are well formed takes long, and they are too many in any case. */
export const MAX_READ_LENGTH = 10_000;
const LABEL_MAX_BYTES = 63;
const SUBDOMAIN_MAX_BYTES = 253;

const DNS_1123_LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const DNS_1123_SUBDOMAIN = `${DNS_1123_LABEL}(\\.${DNS_1123_LABEL})*`;
export const DNS_1035_LABEL = '[a-z]([-a-z0-9]*[a-z0-9])?';

const DNS_1123_LABEL_PROBLEM = patternProblem(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  DNS_1123_LABEL,
  'my-name',
  '123-abc',
);
const DNS_1123_SUBDOMAIN_PROBLEM = patternProblem(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  DNS_1123_SUBDOMAIN,
  'example.com',
);
const DNS_1035_LABEL_PROBLEM = patternProblem(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  DNS_1035_LABEL,
  'my-name',
  'abc-123',
);

const NO_PROBLEMS: readonly string[] = [];

/** Compiles the pattern once; the returned function lists the problems of one value. */
function checker(limit: number, pattern: string, problem: string): (value: string) => readonly string[] {
  const whole = new RegExp(`^(?:${pattern})$`);
  return (value) => {
    if (value.length > MAX_READ_LENGTH) return [lengthProblem(limit)];
    const isWellFormed = whole.test(value);
    // What is well formed has one byte for each character.
    if (isWellFormed && value.length <= limit) return NO_PROBLEMS;
    const problems = byteLength(value) > limit ? [lengthProblem(limit)] : [];
    return isWellFormed ? problems : [...problems, problem];
  };
}

export const dns1123LabelProblems = checker(LABEL_MAX_BYTES, DNS_1123_LABEL, DNS_1123_LABEL_PROBLEM);
export const dns1123SubdomainProblems = checker(SUBDOMAIN_MAX_BYTES, DNS_1123_SUBDOMAIN, DNS_1123_SUBDOMAIN_PROBLEM);
export const dns1035LabelProblems = checker(LABEL_MAX_BYTES, DNS_1035_LABEL, DNS_1035_LABEL_PROBLEM);

const WILDCARD_SUBDOMAIN = `\\*\\.${DNS_1123_SUBDOMAIN}`;
const WILDCARD_SUBDOMAIN_PROBLEM = patternProblem(
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  WILDCARD_SUBDOMAIN,
  '*.example.com',
);

/** `*.example.com`: all hosts of a domain. */
export const wildcardSubdomainProblems = checker(SUBDOMAIN_MAX_BYTES, WILDCARD_SUBDOMAIN, WILDCARD_SUBDOMAIN_PROBLEM);

/** A prefix may end in a dash, because what is appended ends well; a letter stands for it during the check. */
function maskTrailingDash(name: string): string {
  return name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;
}

function nameRule(problems: (value: string) => readonly string[]) {
  return (name: string, prefix: boolean): readonly string[] => problems(prefix ? maskTrailingDash(name) : name);
}

/** Most kinds. */
export const dnsSubdomainName = nameRule(dns1123SubdomainProblems);
/** Namespaces. */
export const dnsLabelName = nameRule(dns1123LabelProblems);
/** Services. */
export const dns1035LabelName = nameRule(dns1035LabelProblems);

const FORBIDDEN_SEGMENTS = ['.', '..'];
const FORBIDDEN_IN_SEGMENTS = ['/', '%'];

/** Roles and their bindings: what is appended to a prefix does not make `..` a name. */
export function roleName(name: string): readonly string[] {
  return pathSegmentName(name, false);
}

/** The least that every name must keep to: it has to fit into a URL's path. */
export function pathSegmentName(name: string, prefix: boolean): readonly string[] {
  if (!prefix && FORBIDDEN_SEGMENTS.includes(name)) return [`may not be '${name}'`];
  return FORBIDDEN_IN_SEGMENTS.filter((text) => name.includes(text)).map((text) => `may not contain '${text}'`);
}
