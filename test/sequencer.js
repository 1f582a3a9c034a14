const { default: Sequencer } = require('@jest/test-sequencer');

/** Minutes each, in files that do not look it. One that begins last has a processor for itself while the others wait. */
const LONGEST = [
  'test/deploy/image.test.ts',
  'test/growth/growth.test.ts',
  'test/contract/etcd.test.ts',
  'test/helm/release.test.ts',
];

/** Where nothing is known of earlier runs, as on a clean clone, Jest begins with the largest files. */
module.exports = class extends Sequencer {
  sort(tests) {
    const rank = ({ path }) => {
      const index = LONGEST.findIndex((name) => path.endsWith(name));
      return index < 0 ? LONGEST.length : index;
    };
    return super.sort(tests).sort((a, b) => rank(a) - rank(b));
  }
};
