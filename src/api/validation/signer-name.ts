import { invalid, required, tooLong, type FieldError } from '../errors/field-error';
import { dns1123LabelProblems, dns1123SubdomainProblems } from './names';

/** Requests from before signers had names go to this one. */
export const LEGACY_SIGNER = 'kubernetes.io/legacy-unknown';

const MAX_DOMAIN_LENGTH = 253;
/** A label and a subdomain, joined by a dot. */
const MAX_PATH_LENGTH = 253 + 63 + 1;
const MAX_LENGTH = MAX_DOMAIN_LENGTH + 1 + MAX_PATH_LENGTH;

/** The problems of the first wrong part between dots. */
function partProblems(text: string, problems: (part: string) => readonly string[]): readonly string[] {
  const wrong = text.split('.').find((part) => problems(part).length > 0);
  if (wrong === undefined) return [];
  return problems(wrong).map((problem) => `validating label ${JSON.stringify(wrong)}: ${problem}`);
}

/** `example.com/signer-name`. */
export function validateSignerName(name: string, field: string): readonly FieldError[] {
  if (name === '') return [required(field, 'signerName must be provided')];
  const [domain = '', path, ...more] = name.split('/', 3);
  if (path === undefined || more.length > 0) {
    const form = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    return [invalid(field, name, form)];
  }
  return [
    ...(domain.length > MAX_DOMAIN_LENGTH ? [tooLong(field, MAX_DOMAIN_LENGTH)] : []),
    ...partProblems(domain, dns1123LabelProblems).map((problem) => invalid(field, domain, problem)),
    ...(domain.includes('.')
      ? []
      : [invalid(field, domain, 'should be a domain with at least two segments separated by dots')]),
    ...partProblems(path, dns1123SubdomainProblems).map((problem) => invalid(field, path, problem)),
    ...(name.length > MAX_LENGTH ? [tooLong(field, MAX_LENGTH)] : []),
  ];
}
