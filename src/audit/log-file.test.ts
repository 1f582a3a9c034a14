import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { LogFile, type LogFileOptions } from './log-file';

let folder: string;
let files: LogFile[];
let day: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'audit-'));
  files = [];
  day = 1;
});

afterEach(async () => {
  await Promise.all(files.map((file) => file.close()));
  rmSync(folder, { recursive: true });
});

const LINE = `${'x'.repeat(99)}\n`;
const path = () => join(folder, 'audit.log');
const read = (name = 'audit.log') => readFileSync(join(folder, name), 'utf8');

function open(options: Partial<LogFileOptions> = {}): LogFile {
  const file = new LogFile({
    path: path(),
    maxBytes: 250,
    maxAgeDays: 0,
    maxBackups: 0,
    compress: false,
    // Each look at the clock is a day later.
    now: () => new Date(Date.UTC(2024, 0, day++)),
    onFault: (error) => {
      throw error;
    },
    ...options,
  });
  files.push(file);
  return file;
}

async function writeLines(file: LogFile, count: number): Promise<void> {
  for (let line = 0; line < count; line++) file.write(LINE);
  // Tidying ends with the file.
  await file.close();
}

describe('the file of an audit log', () => {
  it('is for its owner only, and is continued', async () => {
    const first = open();
    first.write('one\n');
    await first.writeLater('two\n');
    open().write('three\n');
    expect(read()).toBe('one\ntwo\nthree\n');
    expect(statSync(path()).mode & 0o777).toBe(0o600);
  });

  it('is replaced before it grows over its limit, and the old one has the time in its name', async () => {
    await writeLines(open(), 5);
    const names = readdirSync(folder).sort();
    expect(names).toHaveLength(3);
    expect(names[0]).toMatch(/^audit-2024-01-\d\dT00-00-00\.000\.log$/);
    expect(names.map((name) => read(name).length)).toEqual([200, 200, 100]);
  });

  it('keeps as many old ones as it may', async () => {
    await writeLines(open({ maxBackups: 2 }), 13);
    expect(readdirSync(folder)).toHaveLength(3);
  });

  it('keeps old ones for as long as it may', async () => {
    for (const name of [
      'audit-2020-01-01T00-00-00.000.log',
      'audit-2020-01-02T00-00-00.000.log.gz',
      'audit-notes.log',
    ]) {
      writeFileSync(join(folder, name), '');
    }
    await writeLines(open({ maxAgeDays: 30 }), 3);
    expect(readdirSync(folder).filter((name) => !name.startsWith('audit-2024'))).toEqual([
      'audit-notes.log',
      'audit.log',
    ]);
  });

  it('compresses old ones', async () => {
    await writeLines(open({ compress: true }), 3);
    const old = readdirSync(folder).filter((name) => name !== 'audit.log');
    expect(old).toEqual([expect.stringMatching(/\.log\.gz$/)]);
    expect(gunzipSync(readFileSync(join(folder, old[0]!))).toString()).toBe(LINE + LINE);
  });

  it('begins on a line of its own after a crash in the middle of one', () => {
    writeFileSync(path(), '{"half":');
    open().write('{}\n');
    expect(read()).toBe('{"half":\n{}\n');
  });

  it('is begun anew when somebody has moved it away', () => {
    const file = open({ maxBytes: 1e9 });
    file.write(LINE.repeat(1000));
    renameSync(path(), join(folder, 'moved'));
    file.write(LINE);
    expect(read()).toBe(LINE);
  });

  it('is shared with others that replace it', () => {
    const [one, other] = [open({ maxBytes: 250 }), open({ maxBytes: 250 })];
    for (let line = 0; line < 10; line++) (line % 2 === 0 ? one : other).write(LINE);
    const all = readdirSync(folder).map((name) => read(name));
    expect(all.join('')).toBe(LINE.repeat(10));
  });

  it('cannot be where there is no place for it', () => {
    appendFileSync(join(folder, 'file'), '');
    expect(() => open({ path: join(folder, 'file', 'audit.log') })).toThrow();
  });
});

describe('a disk that is full', () => {
  it('says so, and later lines are whole', () => {
    // /dev/full takes nothing.
    const file = open({ path: '/dev/full', maxBytes: 1e9 });
    expect(() => file.write(LINE)).toThrow('ENOSPC');
    expect(() => file.write(LINE)).toThrow('ENOSPC');
  });
});
