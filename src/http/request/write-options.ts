import { quoteGo } from '../../api/errors/go-quote';
import {
  forbiddenField,
  invalid,
  notSupported,
  required,
  tooLong,
  type FieldError,
} from '../../api/errors/field-error';
import { invalidObject } from '../../api/errors/status-error';
import type { Query } from './query';

/** The query of a create, an update or a patch. */
export interface WriteOptions {
  readonly dryRun: boolean;
  /** Empty when the client names none; then the user agent's first word counts. */
  readonly fieldManager: string;
  /** An apply takes fields from other managers. */
  readonly force: boolean;
  readonly fieldValidation: FieldValidation;
  /** As admission sees them: kind, apiVersion and what was given. */
  readonly object: Readonly<Record<string, unknown>>;
}

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';
type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions';

const MAX_FIELD_MANAGER_BYTES = 128;
const FIELD_VALIDATIONS: ReadonlySet<string> = new Set<FieldValidation | ''>(['', 'Ignore', 'Warn', 'Strict']);

/** Reads and checks the options. `applying` is true for server-side apply. Throws a 422 StatusError with all problems. */
export function parseWriteOptions(query: Query, kind: OptionsKind, applying = false): WriteOptions {
  const dryRun = query.all('dryRun');
  const fieldManager = query.first('fieldManager') ?? '';
  const fieldValidation = query.first('fieldValidation') ?? '';
  const errors: FieldError[] = [];
  if (kind === 'PatchOptions') {
    if (applying && fieldManager === '') errors.push(required('fieldManager', 'is required for apply patch'));
    if (!applying && query.has('force')) {
      errors.push(forbiddenField('force', 'may not be specified for non-apply patch'));
    }
  }
  errors.push(...fieldManagerProblems(fieldManager), ...dryRunProblems(dryRun));
  if (!FIELD_VALIDATIONS.has(fieldValidation)) {
    errors.push(notSupported('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn']));
  }
  if (errors.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind }, '', errors);
  return {
    dryRun: dryRun.length > 0,
    fieldManager,
    force: query.flag('force'),
    fieldValidation: fieldValidation === '' ? 'Ignore' : (fieldValidation as FieldValidation),
    object: {
      kind,
      apiVersion: 'meta.k8s.io/v1',
      ...(dryRun.length === 0 ? {} : { dryRun }),
      ...(applying && query.has('force') ? { force: query.flag('force') } : {}),
      ...(fieldManager === '' ? {} : { fieldManager }),
      ...(fieldValidation === '' ? {} : { fieldValidation }),
    },
  };
}

/** What nearly all user agents begin with. */
const PLAIN_NAME = /^[\x20-\x7e]{1,128}$/;

/** Who owns the fields of a write: the given name, else the user agent up to its first slash. */
export function managerName({ fieldManager }: WriteOptions, userAgent: string | undefined): string {
  if (fieldManager !== '') return fieldManager;
  const agent = userAgent ?? '';
  const slash = agent.indexOf('/');
  const word = slash < 0 ? agent : agent.slice(0, slash);
  if (PLAIN_NAME.test(word)) return word;
  const printable = [...word].filter((character) => isPrintable(character)).join('');
  const name = truncate(printable, MAX_FIELD_MANAGER_BYTES);
  return name === '' ? 'unknown' : name;
}

/** `All` is the only kind of dry run. */
export function dryRunProblems(values: readonly string[]): readonly FieldError[] {
  if (values.every((value) => value === 'All')) return [];
  const printed = `[]string{${values.map(quoteGo).join(', ')}}`;
  return [
    {
      reason: 'FieldValueNotSupported',
      field: 'dryRun',
      message: `Unsupported value: ${printed}: supported values: "All"`,
    },
  ];
}

function fieldManagerProblems(manager: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (Buffer.byteLength(manager) > MAX_FIELD_MANAGER_BYTES)
    errors.push(tooLong('fieldManager', MAX_FIELD_MANAGER_BYTES));
  let position = 0;
  for (const character of manager) {
    if (!isPrintable(character)) {
      const point = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      errors.push(invalid('fieldManager', manager, `invalid character U+${point} (at position ${position})`));
    }
    position += Buffer.byteLength(character);
  }
  return errors;
}

/** Letters, marks, numbers, punctuation, symbols, and the plain space. */
function isPrintable(character: string): boolean {
  return character === ' ' || /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(character);
}

function truncate(text: string, maxBytes: number): string {
  let end = text.length;
  while (Buffer.byteLength(text.slice(0, end)) > maxBytes) end--;
  return text.slice(0, end);
}
