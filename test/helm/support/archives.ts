import { inflateRawSync } from 'node:zlib';

const TAR_BLOCK = 512;

/** One file of a tar archive. */
export function fileOfTar(archive: Buffer, path: string): Buffer {
  for (let offset = 0; offset + TAR_BLOCK <= archive.length; ) {
    const name = textOf(archive.subarray(offset, offset + 100));
    const size = Number.parseInt(textOf(archive.subarray(offset + 124, offset + 136)), 8) || 0;
    const start = offset + TAR_BLOCK;
    if (name === path) return archive.subarray(start, start + size);
    offset = start + Math.ceil(size / TAR_BLOCK) * TAR_BLOCK;
  }
  throw new Error(`the archive has no ${path}`);
}

function textOf(field: Buffer): string {
  const end = field.indexOf(0);
  return field.toString('latin1', 0, end < 0 ? field.length : end).trim();
}

const END_OF_DIRECTORY = 0x06054b50;
const DEFLATED = 8;

/** Files of a zip archive, stored or deflated. */
export function filesOfZip(archive: Buffer, wanted: readonly string[]): ReadonlyMap<string, Buffer> {
  let end = archive.length - 22;
  while (end >= 0 && archive.readUInt32LE(end) !== END_OF_DIRECTORY) end--;
  if (end < 0) throw new Error('this is no zip archive');
  const files = new Map<string, Buffer>();
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((field) => archive.readUInt16LE(at + field));
    const nameEnd = at + 46 + (nameLength ?? 0);
    const name = archive.toString('utf8', at + 46, nameEnd);
    if (wanted.includes(name)) files.set(name, contentAt(archive, archive.readUInt32LE(at + 42), at));
    at = nameEnd + (extraLength ?? 0) + (commentLength ?? 0);
  }
  for (const name of wanted) if (!files.has(name)) throw new Error(`the archive has no ${name}`);
  return files;
}

/** Sizes stand in the directory; the local header may leave them out. */
function contentAt(archive: Buffer, header: number, entry: number): Buffer {
  const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
  const bytes = archive.subarray(start, start + archive.readUInt32LE(entry + 20));
  return archive.readUInt16LE(entry + 10) === DEFLATED ? inflateRawSync(bytes) : Buffer.from(bytes);
}
