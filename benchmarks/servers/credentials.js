const { generateKeyPairSync } = require('node:crypto');
const { writeFileSync } = require('node:fs');
const { join } = require('node:path');

const ADMIN_TOKEN = 'bench-admin-token';
/** Its rights come from RBAC objects (see setup.js): every measured request is judged by them. */
const USER = 'bench';
const USER_TOKEN = 'bench-user-token';
/** A user that asks for more than its part. */
const HOG = 'bench-hog';
const HOG_TOKEN = 'bench-hog-token';
/** Some node's agent. */
const NODE_TOKEN = 'bench-node-token';

/** Token file and service account key for a run. */
function writeCredentials(folder) {
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

module.exports = { ADMIN_TOKEN, HOG, HOG_TOKEN, NODE_TOKEN, USER, USER_TOKEN, writeCredentials };
