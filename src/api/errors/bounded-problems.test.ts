import { invalid } from './field-error';
import { internalError, invalidObject, MAX_PROBLEMS_LENGTH } from './status-error';

test('a refusal tells the first problems, as many as have room', () => {
  const detail = 'v'.repeat(MAX_PROBLEMS_LENGTH / 4);
  const errors = Array.from({ length: 100 }, (_, index) => invalid(`spec.list[${index}]`, 'v', detail));
  const { status } = invalidObject({ group: '', kind: 'Pod' }, 'a', errors);
  expect(status.details?.causes?.map(({ field }) => field)).toEqual(['spec.list[0]', 'spec.list[1]', 'spec.list[2]']);
  expect(invalidObject({ group: '', kind: 'Pod' }, 'a', errors.slice(0, 2)).status.details?.causes).toHaveLength(2);
});

test('the cause of an internal error is cut as its message is', () => {
  const { status } = internalError('v'.repeat(3_000_000));
  expect(JSON.stringify(status).length).toBeLessThan(1_100_000);
});
