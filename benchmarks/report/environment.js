const { execFileSync } = require('node:child_process');
const os = require('node:os');
const { version } = require('../../package.json');

/** What the figures depend on. */
function describeEnvironment({ etcd, peer, rounds, seconds, objects, bytes }) {
  const [cpu] = os.cpus();
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: `${os.cpus().length} x ${cpu?.model ?? 'unknown'}, ${Math.round(os.totalmem() / 2 ** 30)} GiB`,
    load: `${os.loadavg()[1]?.toFixed(1)} over the last five minutes, the run included`,
    node: process.version,
    sternpost: version,
    store: etcd === undefined ? 'embedded' : versionOf(etcd),
    ...(peer === undefined ? {} : { peer: versionOf(peer) }),
    method: `${rounds} rounds of up to ${seconds} s, ${objects} objects of ${bytes} bytes`,
  };
}

function versionOf(binary) {
  try {
    return execFileSync(binary, ['--version'], { encoding: 'utf8' }).split('\n')[0];
  } catch {
    return binary;
  }
}

module.exports = { describeEnvironment };
