import { StatusError } from '../../api/errors/status-error';
import { Query } from './query';
import { managerName, parseWriteOptions } from './write-options';

function messageOf(kind: 'CreateOptions' | 'PatchOptions', query: string, applying = false): string {
  try {
    parseWriteOptions(Query.parse(query), kind, applying);
    return '';
  } catch (error) {
    return error instanceof StatusError ? error.message : String(error);
  }
}

describe('parseWriteOptions', () => {
  it.each([
    ['dryRun=All', ''],
    ['dryRun=Some', 'dryRun: Unsupported value: []string{"Some"}: supported values: "All"'],
    ['dryRun=%ff&dryRun=%00', 'dryRun: Unsupported value: []string{"\ufffd", "\\x00"}: supported values: "All"'],
    ['dryRun=', 'dryRun: Unsupported value: []string{""}: supported values: "All"'],
    ['dryRun=All&dryRun=None', 'dryRun: Unsupported value: []string{"All", "None"}: supported values: "All"'],
    ['fieldManager=a%0Ab', 'fieldManager: Invalid value: "a\\nb": invalid character U+000A (at position 1)'],
    [`fieldManager=${'m'.repeat(129)}`, 'fieldManager: Too long: must have at most 128 bytes'],
    ['fieldValidation=x', 'fieldValidation: Unsupported value: "x": supported values: "", "Ignore", "Strict", "Warn"'],
    ['force=true', ''],
  ])('a create with %s gives "%s"', (query, problem) => {
    expect(messageOf('CreateOptions', query)).toBe(
      problem === '' ? '' : `CreateOptions.meta.k8s.io "" is invalid: ${problem}`,
    );
  });

  it('takes force and needs a manager only for an apply', () => {
    expect(messageOf('PatchOptions', 'force=true')).toContain(
      'force: Forbidden: may not be specified for non-apply patch',
    );
    expect(messageOf('PatchOptions', 'force=true&fieldManager=m', true)).toBe('');
    expect(messageOf('PatchOptions', '', true)).toContain('fieldManager: Required value: is required for apply patch');
  });
});

describe('managerName', () => {
  const none = parseWriteOptions(Query.EMPTY, 'CreateOptions');
  it.each([
    ['kubectl/v1.32.0 (linux/amd64)', 'kubectl'],
    [undefined, 'unknown'],
    ['', 'unknown'],
  ])('reads %s as %s', (agent, manager) => {
    expect(managerName(none, agent)).toBe(manager);
  });
});
