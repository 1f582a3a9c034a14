import { chmodSync, closeSync, fchmodSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'; // prettier-ignore
import { dirname } from 'node:path';

/** Keys, kubeconfigs and the registry with its Secrets are for their owner only, whatever the umask is. */
export const PRIVATE_FILE_MODE = 0o600;
export const PRIVATE_FOLDER_MODE = 0o700;
export const PUBLIC_FILE_MODE = 0o644;

const OTHERS = 0o077;

/** Windows has other means, and shows made-up modes. */
const hasModes = process.platform !== 'win32';

/** Makes a folder, with those above it, unless it is there. */
export function makePrivateFolder(path: string): void {
  if (mkdirSync(path, { recursive: true, mode: PRIVATE_FOLDER_MODE }) !== undefined) {
    chmodSync(path, PRIVATE_FOLDER_MODE);
  }
}

/** Makes an empty file unless it is there. */
export function makePrivateFile(path: string): void {
  try {
    const descriptor = openSync(path, 'wx', PRIVATE_FILE_MODE);
    fchmodSync(descriptor, PRIVATE_FILE_MODE);
    closeSync(descriptor);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/**
 * Puts a file there with all of its content, or, when that fails or the process is killed, leaves what was there. No
 * other user can read it at any moment.
 */
export function writePrivateFile(path: string, content: string): void {
  writeWhole(path, content, PRIVATE_FILE_MODE);
}

/** The same for what everybody may read, such as a certificate. */
export function writePublicFile(path: string, content: string): void {
  writeWhole(path, content, PUBLIC_FILE_MODE);
}

function writeWhole(path: string, content: string, mode: number): void {
  makePrivateFolder(dirname(path));
  const temporary = `${path}.${process.pid}.tmp`;
  rmSync(temporary, { force: true });
  const descriptor = openSync(temporary, 'wx', mode);
  try {
    try {
      fchmodSync(descriptor, mode);
      writeFileSync(descriptor, content);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw naming(path, error);
  }
}

/** A write through a descriptor that fails (the disk is full) does not say what it wrote. */
function naming(path: string, error: unknown): unknown {
  const isNamed = !(error instanceof Error) || 'path' in error;
  return isNamed ? error : Object.assign(error, { message: `${path}: ${error.message}`, path });
}

/** Told of what was readable by others, and of what cannot be helped. */
export type Warn = (message: string) => void;

/** Takes the rights of everybody but the owner from a file, if there is one. */
export function protectFile(path: string, warn: Warn): void {
  protect(path, warn);
}

/**
 * The same for a folder, unless something lies there that is not ours: somebody may have named a folder that others
 * need, such as /var/lib.
 */
export function protectFolder(path: string, isOurs: (name: string) => boolean, warn: Warn): void {
  const mode = openModeOf(path);
  if (mode === undefined) return;
  const foreign = readdirSync(path).find((name) => !isOurs(name));
  if (foreign === undefined) protect(path, warn);
  else warn(`${path} is open to others (mode ${print(mode)}) and stays so, because ${foreign} is not ours: use a folder of its own`); // prettier-ignore
}

function protect(path: string, warn: Warn): void {
  const mode = openModeOf(path);
  if (mode === undefined) return;
  const wanted = mode & ~OTHERS;
  try {
    chmodSync(path, wanted);
    warn(`${path} was open to others (mode ${print(mode)}): it has mode ${print(wanted)} from now on`);
  } catch (error) {
    warn(`${path} is open to others (mode ${print(mode)}), and that cannot be changed: ${(error as Error).message}`);
  }
}

/** The mode, if it gives others a right; undefined otherwise, also when nothing is there. */
function openModeOf(path: string): number | undefined {
  const stat = hasModes ? statSync(path, { throwIfNoEntry: false }) : undefined;
  return stat === undefined || (stat.mode & OTHERS) === 0 ? undefined : stat.mode & 0o7777;
}

function print(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}
