import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  makePrivateFile,
  makePrivateFolder,
  protectFile,
  protectFolder,
  writePrivateFile,
  writePublicFile,
} from './private-files';

const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);

describe('files that are nobody else’s business', () => {
  let folder: string;
  let umask: number;

  beforeEach(() => {
    umask = process.umask();
    folder = mkdtempSync(join(tmpdir(), 'sternpost-private-'));
  });
  afterEach(() => {
    process.umask(umask);
    rmSync(folder, { recursive: true });
  });

  it.each([0o000, 0o022, 0o277])('have their modes whatever the umask is (%i)', (mask) => {
    process.umask(mask);
    writePrivateFile(join(folder, 'key'), 'secret');
    writePublicFile(join(folder, 'crt'), 'certificate');
    makePrivateFile(join(folder, 'registry'));
    makePrivateFolder(join(folder, 'pki'));
    process.umask(umask);
    expect(['key', 'crt', 'registry', 'pki'].map((name) => modeOf(join(folder, name)))).toEqual([
      '600',
      '644',
      '600',
      '700',
    ]);
  });

  it('are written whole or not at all, and leave nothing else behind', () => {
    const path = join(folder, 'key');
    writePrivateFile(path, 'first');
    writePrivateFile(path, 'second');
    expect(readFileSync(path, 'utf8')).toBe('second');
    mkdirSync(join(folder, 'taken'));
    expect(() => writePrivateFile(join(folder, 'taken'), 'text')).toThrow('EISDIR');
    expect(readdirSync(folder).sort()).toEqual(['key', 'taken']);
  });

  it('are named when the disk has no room for them', () => {
    const path = join(folder, 'key');
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    const written = jest.spyOn(jest.requireActual<typeof fs>('node:fs'), 'writeFileSync').mockImplementation(() => {
      throw full;
    });
    try {
      expect(() => writePrivateFile(path, 'text')).toThrow(`${path}: ENOSPC: no space left on device, write`);
    } finally {
      written.mockRestore();
    }
    expect(readdirSync(folder)).toEqual([]);
  });

  it('are kept when they are there already', () => {
    writeFileSync(join(folder, 'registry'), 'content');
    makePrivateFile(join(folder, 'registry'));
    expect(readFileSync(join(folder, 'registry'), 'utf8')).toBe('content');
  });

  it('are closed to others when they were open, and that is said once', () => {
    const path = join(folder, 'key');
    writeFileSync(path, 'secret');
    chmodSync(path, 0o644);
    const warnings: string[] = [];
    for (let time = 0; time < 2; time++) protectFile(path, (message) => warnings.push(message));
    protectFile(join(folder, 'absent'), (message) => warnings.push(message));
    expect(modeOf(path)).toBe('600');
    expect(warnings).toEqual([`${path} was open to others (mode 0644): it has mode 0600 from now on`]);
  });

  it('make their folder private, but not one that others use too', () => {
    chmodSync(folder, 0o755);
    writeFileSync(join(folder, 'ours.key'), 'secret');
    const isOurs = (name: string): boolean => name.startsWith('ours');
    const warnings: string[] = [];
    writeFileSync(join(folder, 'theirs'), '');
    protectFolder(folder, isOurs, (message) => warnings.push(message));
    expect(modeOf(folder)).toBe('755');
    expect(warnings).toEqual([expect.stringContaining('theirs is not ours')]);
    rmSync(join(folder, 'theirs'));
    protectFolder(folder, isOurs, (message) => warnings.push(message));
    expect(modeOf(folder)).toBe('700');
    expect(warnings).toHaveLength(2);
  });
});
