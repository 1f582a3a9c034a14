import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WatchedFiles } from './watched-files';

let folder: string;
let file: string;
let failures: unknown[];
let changes: string[];
let watched: WatchedFiles<string>;

function watch(files: readonly string[] = [file]): void {
  const load = (): string => {
    const text = readFileSync(file, 'utf8');
    if (text === 'broken') throw new Error('it is broken');
    return text;
  };
  watched = new WatchedFiles({
    files,
    load,
    onChanged: (value) => changes.push(value),
    onFailed: (error) => failures.push(error),
    pollMs: 3_600_000,
  });
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sternpost-watched-'));
  file = join(folder, 'file');
  writeFileSync(file, 'one');
  failures = [];
  changes = [];
});
afterEach(() => {
  watched.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('watched files', () => {
  it('are read again when they change, and not when they were only touched', () => {
    watch();
    utimesSync(file, 1, 1);
    watched.look();
    expect(changes).toEqual([]);
    writeFileSync(file, 'other');
    watched.look();
    expect(watched.current()).toBe('other');
    expect(changes).toEqual(['other']);
  });

  it('that are broken change nothing until they are mended', () => {
    watch();
    writeFileSync(file, 'broken');
    watched.look();
    watched.look();
    expect(watched.current()).toBe('one');
    expect(failures).toHaveLength(2);
    rmSync(file);
    watched.look();
    expect(watched.current()).toBe('one');
    writeFileSync(file, 'mended');
    watched.look();
    expect(watched.current()).toBe('mended');
  });

  it('may be links that are swapped, as a mounted Secret is', () => {
    mkdirSync(join(folder, 'v1'));
    mkdirSync(join(folder, 'v2'));
    writeFileSync(join(folder, 'v1', 'key'), 'aaa');
    writeFileSync(join(folder, 'v2', 'key'), 'bbb');
    symlinkSync('v1', join(folder, 'data'));
    file = join(folder, 'data', 'key');
    watch();
    symlinkSync('v2', join(folder, 'next'));
    renameSync(join(folder, 'next'), join(folder, 'data'));
    watched.look();
    expect(watched.current()).toBe('bbb');
  });
});
