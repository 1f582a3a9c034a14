import { readFileSync } from 'node:fs';
import { packageFile } from './package-file';

describe('a file of the package', () => {
  it('is found from its root', () => {
    expect(JSON.parse(readFileSync(packageFile('package.json'), 'utf8'))).toMatchObject({ name: 'sternpost' });
    expect(readFileSync(packageFile('src', 'api', 'package-file.test.ts'), 'utf8')).toContain('is found from its root');
  });
});
