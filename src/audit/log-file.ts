import {
  closeSync,
  createReadStream,
  createWriteStream,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  write,
  writeSync,
} from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip } from 'node:zlib';

export interface LogFileOptions {
  readonly path: string;
  /** Bytes from which on a new file is begun. */
  readonly maxBytes: number;
  /** Days that old files are kept; 0: for good. */
  readonly maxAgeDays: number;
  /** Old files that are kept; 0: all. */
  readonly maxBackups: number;
  readonly compress: boolean;
  readonly now: () => Date;
  /** Hears what is wrong with old files. */
  readonly onFault: (error: Error) => void;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** After so many bytes it is looked up how large the file is and whether it is still there: others may write to it, or move it away. */
const CHECK_AFTER_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

const writeLater = promisify(write);

/**
 * A file of lines that is replaced when it has grown too large: it is renamed with the time in its name, `audit-2024-03-01T10-20-30.000.log`,
 * and old ones are compressed or removed. Several processes may write to one file: lines are appended as a whole.
 */
export class LogFile {
  #fd: number;
  #size = 0;
  #sinceCheck = 0;
  /** The last write has left a part of a line that could not be taken back. */
  #isTorn = false;
  #tidying: Promise<void> | undefined;
  #isUntidy = false;
  #isClosed = false;

  /** Throws when the file cannot be written. */
  constructor(private readonly options: LogFileOptions) {
    mkdirSync(dirname(options.path), { recursive: true });
    this.#fd = this.#open();
  }

  /** Lines, written when this returns. Throws when not all of them could be. */
  write(text: string): void {
    const bytes = this.#prepare(text);
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(this.#fd, bytes, written);
    } catch (error) {
      this.#takeBack(written);
      throw error;
    }
    this.#wrote(bytes.length);
  }

  /** The same, while others go on; one call at a time. */
  async writeLater(text: string): Promise<void> {
    const bytes = this.#prepare(text);
    let written = 0;
    try {
      while (written < bytes.length) {
        const { bytesWritten } = await writeLater(this.#fd, bytes, written, bytes.length - written);
        written += bytesWritten;
      }
    } catch (error) {
      this.#takeBack(written);
      throw error;
    }
    this.#wrote(bytes.length);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#tidying;
    closeSync(this.#fd);
  }

  #open(): number {
    const fd = openSync(this.options.path, 'a', 0o600);
    this.#size = fstatSync(fd).size;
    this.#sinceCheck = 0;
    this.#isTorn = this.#size > 0 && !endsLine(this.options.path, this.#size);
    return fd;
  }

  #prepare(text: string): Buffer {
    const bytes = Buffer.from(this.#isTorn ? `\n${text}` : text);
    if (this.#sinceCheck >= CHECK_AFTER_BYTES) this.#check();
    if (this.#size > 0 && this.#size + bytes.length > this.options.maxBytes) this.#rotate();
    return bytes;
  }

  #wrote(length: number): void {
    this.#isTorn = false;
    this.#size += length;
    this.#sinceCheck += length;
  }

  /** Only the last line of a file may be a part of one, after a crash; not one in the middle. */
  #takeBack(written: number): void {
    if (written === 0) return;
    const { size } = fstatSync(this.#fd);
    // Others have appended to it: the next line begins on a line of its own.
    if (size !== this.#size + written) this.#isTorn = true;
    else ftruncateSync(this.#fd, this.#size);
  }

  #check(): void {
    const own = fstatSync(this.#fd);
    const named = statSync(this.options.path, { throwIfNoEntry: false });
    this.#size = own.size;
    this.#sinceCheck = 0;
    if (named?.ino === own.ino && named.dev === own.dev) return;
    closeSync(this.#fd);
    this.#fd = this.#open();
  }

  #rotate(): void {
    // Another process may have done it.
    this.#check();
    if (this.#size === 0) return;
    const { path } = this.options;
    renameSync(path, this.#backupName());
    closeSync(this.#fd);
    this.#fd = this.#open();
    this.#isUntidy = true;
    this.#tidying ??= this.#tidyAll()
      .catch((error: unknown) => this.options.onFault(error as Error))
      .finally(() => (this.#tidying = undefined));
  }

  #backupName(): string {
    const { path, now } = this.options;
    const extension = extname(path);
    const time = now().toISOString().replaceAll(':', '-').slice(0, -1);
    return join(dirname(path), `${basename(path, extension)}-${time}${extension}`);
  }

  /** Another file may be replaced while old ones are compressed. */
  async #tidyAll(): Promise<void> {
    while (this.#isUntidy) {
      this.#isUntidy = false;
      await this.#tidy();
    }
  }

  /** Removes old files, and compresses what is left. */
  async #tidy(): Promise<void> {
    const { path, maxAgeDays, maxBackups, compress, now } = this.options;
    const backups = backupsOf(path);
    const oldest = now().getTime() - maxAgeDays * DAY_MS;
    const isOld = ({ time }: Backup, index: number): boolean =>
      (maxBackups > 0 && index >= maxBackups) || (maxAgeDays > 0 && time < oldest);
    const old = backups.filter(isOld);
    for (const { files } of old) for (const file of files) rmSync(file, { force: true });
    if (!compress) return;
    for (const backup of backups.filter((one) => !old.includes(one))) {
      for (const file of backup.files) if (!file.endsWith(GZIPPED)) await compressFile(file);
    }
  }
}

/** False: a crash has left a part of a line at the end of the file. */
function endsLine(path: string, size: number): boolean {
  const last = Buffer.alloc(1);
  const fd = openSync(path, 'r');
  try {
    readSync(fd, last, 0, 1, size - 1);
  } finally {
    closeSync(fd);
  }
  return last[0] === NEWLINE;
}

const GZIPPED = '.gz';

/** A file that was replaced, whether compressed or not. */
interface Backup {
  readonly time: number;
  readonly files: readonly string[];
}

/** The newest first. */
function backupsOf(path: string): readonly Backup[] {
  const extension = extname(path);
  const prefix = `${basename(path, extension)}-`;
  const byTime = new Map<number, string[]>();
  for (const name of readdirSync(dirname(path))) {
    const plain = name.endsWith(GZIPPED) ? name.slice(0, -GZIPPED.length) : name;
    if (!plain.startsWith(prefix) || !plain.endsWith(extension)) continue;
    const text = plain.slice(prefix.length, plain.length - extension.length);
    const time = Date.parse(`${text.replace(/T(\d\d)-(\d\d)-/, 'T$1:$2:')}Z`);
    if (Number.isNaN(time)) continue;
    const files = byTime.get(time) ?? [];
    files.push(join(dirname(path), name));
    byTime.set(time, files);
  }
  return [...byTime].map(([time, files]) => ({ time, files })).sort((one, other) => other.time - one.time);
}

async function compressFile(file: string): Promise<void> {
  const unfinished = `${file}${GZIPPED}.tmp`;
  await pipeline(createReadStream(file), createGzip(), createWriteStream(unfinished, { mode: 0o600 }));
  renameSync(unfinished, `${file}${GZIPPED}`);
  rmSync(file, { force: true });
}
