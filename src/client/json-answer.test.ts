import { atOnce } from '../api/parts';
import { take } from '../api/steps/both-forms.fixture';
import { readJsonAnswer, readJsonAnswerInSteps } from './json-answer';

const COUNT = 40_000;

describe('the answer of a peer', () => {
  it('is read in pieces when it is large, with the same outcome', async () => {
    const extra = Object.fromEntries(Array.from({ length: COUNT }, (_, index) => [`k${index}`, []]));
    const text = JSON.stringify({ status: { user: { extra } } });
    const { result, pauses } = take(readJsonAnswerInSteps(text));
    expect(result).toEqual(JSON.parse(text));
    expect(pauses).toBeGreaterThan(text.length / (48 * 1024));
    expect(await readJsonAnswer(text)).toEqual(result);
  });

  it.each([
    ['too many values', `[${'[],'.repeat(COUNT * 2)}[]]`, 'more than 100000 values'],
    ['no end', `[${'1,'.repeat(COUNT)}`, 'invalid JSON of 80001 characters'],
    ['lists within lists without end', '['.repeat(COUNT * 2), 'exceeded max depth'],
    ['no end in short', '[1,', 'unexpected end of JSON input'],
  ])('is refused: %s', async (_, text, problem) => {
    expect(() => atOnce(readJsonAnswerInSteps(text))).toThrow(problem);
    await expect(readJsonAnswer(text)).rejects.toThrow(problem);
  });
});
