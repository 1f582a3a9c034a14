import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { namedBy, readNamedText } from './named-file';

describe('a file that a flag names', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'named-file-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is read', () => {
    const file = join(folder, 'policy.yaml');
    writeFileSync(file, 'kind: Policy\n');
    expect(readNamedText(file, 'audit-policy-file')).toBe('kind: Policy\n');
  });

  it('is told of with its flag and with what to do, when it cannot be read', () => {
    const file = join(folder, 'none');
    expect(() => readNamedText(file, 'audit-policy-file')).toThrow(
      `${file}: it cannot be read (ENOENT: no such file or directory, open '${file}'). ` +
        'It is named by --audit-policy-file: name another, or mend it',
    );
  });

  it('may have several flags', () => {
    expect(namedBy('tls-cert-file', 'tls-private-key-file')).toBe(
      'It is named by --tls-cert-file and --tls-private-key-file: name another, or mend it',
    );
  });
});
