import { nodeVersionProblem } from './node-version';

describe('the version of Node.js', () => {
  it.each(['20.15.0', '20.20.2', '22.0.0', '24.21.0', process.versions.node])('%s will do', (running) => {
    expect(nodeVersionProblem(running, '>=20.15')).toBeUndefined();
  });

  it.each(['18.20.8', '20.14.0', '4.9.1'])('%s is too old, and one sentence says so', (running) => {
    expect(nodeVersionProblem(running, '>=20.15')).toBe(`Sternpost needs Node.js 20.15 or later; this is ${running}.`);
  });

  it("is compared with the package's own wish", () => {
    expect(nodeVersionProblem('1.0.0')).toMatch(/^Sternpost needs Node.js \d+\.\d+ or later; this is 1\.0\.0\.$/);
  });
});
