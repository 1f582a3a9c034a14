import { atOnce } from '../parts';
import { counted, mostReads } from '../steps/counted.fixture';
import { checkInParts } from '../validation/check-each';
import { validateDefinitionUpdate } from '../validation/custom-resource-definition';
import type { CustomResourceDefinition } from './custom-resource-definition';
import { prepareStructuralViolations, structuralViolations } from './structural-condition';

const COUNT = 2_000;
/** Of a stretch; all together are more than 200,000. */
const MOST_READS = 30_000;

/** It preserves unknown fields, and has many, one of which has no type. */
function definition(): CustomResourceDefinition {
  const fields = Array.from({ length: COUNT }, (_, index) => [`f${index}`, index === 7 ? {} : { type: 'string' }]);
  const openAPIV3Schema = { type: 'object', properties: Object.fromEntries(fields) as object };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'olds.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'olds', singular: 'old', kind: 'Old', listKind: 'OldList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
      preserveUnknownFields: true,
    },
    status: { storedVersions: ['v1'], conditions: null, acceptedNames: { plural: 'olds', kind: 'Old' } },
  } as unknown as CustomResourceDefinition;
}

it('what a definition with many fields has to mend is looked for a part at a time, and once', () => {
  const text = structuralViolations(definition());
  expect(text).toContain('.properties[f7].type: Required value: must not be empty for specified object fields');
  const object = counted(definition());
  const most = mostReads(prepareStructuralViolations(object));
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(MOST_READS);
  expect(mostReads(prepareStructuralViolations(object))).toBeLessThan(10);
  expect(structuralViolations(object)).toBe(text);
});

it('a change of one that was not structural is judged a part at a time, as at one stretch', () => {
  const [old, changed] = [counted(definition()), counted(definition())];
  const judge = () => validateDefinitionUpdate(changed, old, { group: 'apiextensions.k8s.io', version: 'v1' });
  expect(atOnce(checkInParts(judge))).toEqual(judge());
  expect(mostReads(checkInParts(judge))).toBeLessThan(MOST_READS);
});
