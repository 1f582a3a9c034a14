const { generateKeyPairSync } = require('node:crypto');
const { writeFileSync } = require('node:fs');
const { join } = require('node:path');

const ADMIN_TOKEN = 'bench-admin-token';
/** Its rights come from RBAC objects (see setup.js): every measured request is judged by them. */
const USER = 'bench';
const USER_TOKEN = 'bench-user-token';

/** Token file and service account key for a run. */
function writeCredentials(folder) {
  const tokenFile = join(folder, 'tokens.csv');
  writeFileSync(tokenFile, `${ADMIN_TOKEN},admin,admin-uid,system:masters\n${USER_TOKEN},${USER},bench-uid,benchers\n`);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const serviceAccountKeyFile = join(folder, 'service-account.key');
  writeFileSync(serviceAccountKeyFile, privateKey.export({ type: 'pkcs1', format: 'pem' }));
  return { tokenFile, serviceAccountKeyFile };
}

module.exports = { ADMIN_TOKEN, USER, USER_TOKEN, writeCredentials };
