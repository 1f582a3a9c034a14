import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivateFile, writePublicFile } from '../files/private-files';
import type { CertificateFiles, CertificatePlace } from '../pki/certificate-set';

/** Sets as folders; what is secret in them is readable by its owner only. */
export class CertificateFolder implements CertificatePlace {
  constructor(private readonly folder: string) {}

  async read(set: string): Promise<CertificateFiles | undefined> {
    const folder = join(this.folder, set);
    if (!existsSync(folder)) return undefined;
    return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
  }

  /** Keys first: a start after an interruption finds a certificate without its key renewed. */
  async write(set: string, files: CertificateFiles): Promise<void> {
    const isPublic = (name: string): boolean => name.endsWith('.crt');
    const ordered = Object.entries(files).sort(([left], [right]) => Number(isPublic(left)) - Number(isPublic(right)));
    for (const [name, text] of ordered) {
      (isPublic(name) ? writePublicFile : writePrivateFile)(join(this.folder, set, name), text);
    }
  }

  close(): void {}
}
