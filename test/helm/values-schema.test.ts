import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { load } from 'js-yaml';

const CHART = join(__dirname, '../../helm/sternpost');
const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as Record<string, unknown>;
const values = load(readFileSync(join(CHART, 'values.yaml'), 'utf8')) as Record<string, unknown>;

describe('the schema of the chart\'s values, as ajv reads it', () => {
  const ajv = new Ajv({ allErrors: true, strict: true, strictRequired: false, strictTypes: false });
  const validate = ajv.compile({ ...schema, $schema: 'http://json-schema.org/draft-07/schema#' });

  it('is in a dialect that ajv knows and holds for the default values', () => {
    validate(values);
    expect(validate.errors ?? []).toEqual([]);
  });

  it('refuses a number where each default is something else', () => {
    for (const [name, value] of Object.entries(values)) {
      if (typeof value === 'number') continue;
      expect([name, validate({ ...values, [name]: 1 })]).toEqual([name, false]);
    }
  });

  it('refuses a value that the chart does not have', () => {
    expect(validate({ ...values, noSuchValue: true })).toBe(false);
  });
});
