import { isLatest } from './image-reference';

describe('image references', () => {
  test.each([
    'nginx',
    'nginx:latest',
    'library/nginx',
    'registry.example.com:5000/team/app',
    'localhost/app:latest',
    'a__b/c--d',
  ])('%s may become another image', (image) => {
    expect(isLatest(image)).toBe(true);
  });

  const digest = `sha256:${'b'.repeat(64)}`;
  test.each([
    'nginx:1.19',
    `nginx@${digest}`,
    `nginx:1@${digest}`,
    'registry.example.com:5000/team/app:v1',
    // No references at all.
    '',
    'Upper',
    'a b',
    'i:',
    'a'.repeat(64),
    '/nginx',
  ])('%s stays what it is', (image) => {
    expect(isLatest(image)).toBe(false);
  });

  test('`latest` with a digest is still called latest', () => {
    expect(isLatest(`nginx:latest@${digest}`)).toBe(true);
  });

  test('a hostile text costs no time', () => {
    const start = performance.now();
    expect(isLatest(`${'a-'.repeat(50_000)}!`)).toBe(false);
    expect(performance.now() - start).toBeLessThan(500);
  });
});
