import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const ADMIN_TOKEN = 'bench-admin-token';
/** Its rights come from RBAC objects (see setup.js): every measured request is judged by them. */
export const USER = 'bench';
export const USER_TOKEN = 'bench-user-token';
/** A user that asks for more than its part. */
export const HOG = 'bench-hog';
export const HOG_TOKEN = 'bench-hog-token';
/** Some node's agent. */
export const NODE_TOKEN = 'bench-node-token';

export interface Credentials {
  readonly tokenFile: string;
  readonly serviceAccountKeyFile: string;
}

/** Token file and service account key for a run. */
export function writeCredentials(folder: string): Credentials {
  const tokenFile = join(folder, 'tokens.csv');
  const rows = [
    `${ADMIN_TOKEN},admin,admin-uid,system:masters`,
    `${USER_TOKEN},${USER},bench-uid,benchers`,
    `${HOG_TOKEN},${HOG},bench-hog-uid,benchers`,
    `${NODE_TOKEN},system:node:bench,bench-node-uid,system:nodes`,
  ];
  writeFileSync(tokenFile, `${rows.join('\n')}\n`);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const serviceAccountKeyFile = join(folder, 'service-account.key');
  writeFileSync(serviceAccountKeyFile, privateKey.export({ type: 'pkcs1', format: 'pem' }));
  return { tokenFile, serviceAccountKeyFile };
}
