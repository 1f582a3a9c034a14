import { quoteGo } from '../errors/go-quote';
import { badRequest } from '../errors/status-error';

/**
 * Field selectors: `status.phase=Running,spec.nodeName!=n1`. Terms are joined by commas and all must hold; in a value
 * a backslash escapes comma, equals sign and itself.
 */

export interface FieldRequirement {
  readonly label: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/** The labels of every kind that declares none of its own. */
export const DEFAULT_FIELD_LABELS: readonly string[] = ['metadata.name', 'metadata.namespace'];

function unescapeValue(text: string): string {
  if (!/[\\=,]/.test(text)) return text;
  let value = '';
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (character === '=' || character === ',') {
      throw badRequest(`invalid field selector: unescaped character in value: ${character.codePointAt(0)}`);
    }
    if (character !== '\\') {
      value += character;
      continue;
    }
    index += 1;
    const escaped = text.charAt(index);
    if (!['\\', ',', '='].includes(escaped) || escaped === '') {
      throw badRequest(`invalid field selector: invalid escape sequence: \\${escaped}`);
    }
    value += escaped;
  }
  return value;
}

/** Splits at commas that no backslash escapes. */
function splitTerms(text: string): readonly string[] {
  return text.match(/(?:[^\\,]|\\[^]?)+/g) ?? [];
}

// The label, then the first operator that no backslash escapes. Each part begins in its own way and a backslash takes what
// follows, so that there is one way only to read a text, and a text without an operator is found out in one pass.
const TERM = /^((?:[^\\=!]|\\[^]|\\$|!(?!=))*)(!=|==|=)([^]*)$/;

/**
 * Reads the text of a selector; empty terms are skipped, as are those with nothing on either side of the operator. An empty text
 * gives none, which match everything. Throws a 400 StatusError with the API's message. Whether the labels are known is
 * {@link checkFieldLabels}' question.
 */
export function parseFieldSelector(text: string): readonly FieldRequirement[] {
  const requirements = splitTerms(text).map((term): FieldRequirement => {
    const [, label, operator, value] = TERM.exec(term) ?? [];
    if (label === undefined || value === undefined) {
      throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    }
    return { label, operator: operator === '!=' ? '!=' : '=', value: unescapeValue(value) };
  });
  return requirements.filter(({ label, value }) => label !== '' || value !== '');
}

/** What a kind answers to a label it does not know; kinds with labels of their own word it differently. */
export function unknownFieldLabel(label: string, kindHasOwnLabels: boolean): string {
  return kindHasOwnLabels
    ? `field label not supported: ${label}`
    : `${quoteGo(label)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
}

/**
 * Throws a 400 StatusError for the first label that is not known. `describe` words it: by default as the kinds do that
 * know no label beyond the two of metadata.
 */
export function checkFieldLabels(
  requirements: readonly FieldRequirement[],
  isKnown: (label: string) => boolean,
  describe: (label: string) => string = (label) => unknownFieldLabel(label, false),
): void {
  for (const { label } of requirements) {
    if (!isKnown(label)) throw badRequest(describe(label));
  }
}

/** Whether all requirements hold for what `read` says of each label; absent values are the empty text. */
export function matchesFields(
  requirements: readonly FieldRequirement[],
  read: (label: string) => string | undefined,
): boolean {
  for (const { label, operator, value } of requirements) {
    if (((read(label) ?? '') === value) !== (operator === '=')) return false;
  }
  return true;
}

/** Up to so many requirements are looked at one by one. */
const FEW_REQUIREMENTS = 8;

/** As {@link matchesFields}; what a look costs goes by the labels that the selector names and not by how often it names them. */
export function fieldMatcher(
  requirements: readonly FieldRequirement[],
): (read: (label: string) => string | undefined) => boolean {
  if (requirements.length <= FEW_REQUIREMENTS) return (read) => matchesFields(requirements, read);
  const wanted = new Map<string, Set<string>>();
  const refused = new Map<string, Set<string>>();
  for (const { label, operator, value } of requirements) {
    const values = operator === '=' ? wanted : refused;
    const known = values.get(label);
    if (known === undefined) values.set(label, new Set([value]));
    else known.add(value);
  }
  return (read) => {
    // Two values that it must have are one too many.
    for (const [label, values] of wanted) if (values.size > 1 || !values.has(read(label) ?? '')) return false;
    for (const [label, values] of refused) if (values.has(read(label) ?? '')) return false;
    return true;
  };
}

/** The value that a label must have, if the selector names one: `metadata.name=x` narrows a list to one key. */
export function exactFieldValue(requirements: readonly FieldRequirement[], label: string): string | undefined {
  return requirements.find((one) => one.label === label && one.operator === '=')?.value;
}

/** The text of requirements, with escapes. */
export function printFieldSelector(requirements: readonly FieldRequirement[]): string {
  return requirements
    .map(({ label, operator, value }) => `${label}${operator}${value.replace(/[\\,=]/g, '\\$&')}`)
    .join(',');
}
