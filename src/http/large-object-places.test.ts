import { CONFIG_MAPS, MERGE, servedOverHttp } from '../../test/support/served-over-http';
import { LargeBodyPlaces } from './request/large-body-places';

const { send } = servedOverHttp();

const data = Object.fromEntries(
  Array.from({ length: 5_000 }, (_, index) => [`key-${index}`, 'a value of some length']),
);
const path = `${CONFIG_MAPS}/large`;
const label = (value: string) => ({ metadata: { labels: { a: value } } });

/** How many places the requests take that `run` sends. */
async function placesFor(run: () => Promise<unknown>): Promise<number> {
  const take = jest.spyOn(LargeBodyPlaces.prototype, 'acquire');
  await run();
  const { length } = take.mock.calls;
  take.mockRestore();
  return length;
}

const patch = (body: object, to = path, headers: Record<string, string> = MERGE) =>
  send('PATCH', to, { body, headers });

describe('a place among large requests', () => {
  beforeEach(async () => {
    await send('DELETE', path);
    await send('POST', CONFIG_MAPS, { body: { metadata: { name: 'large' }, data } });
    await send('POST', CONFIG_MAPS, { body: { metadata: { name: 'small' } } });
  });

  it.each<[string, number, () => Promise<unknown>]>([
    ['no small patch of a small object', 0, () => patch(label('a'), `${CONFIG_MAPS}/small`)],
    ['a small patch of a large object', 1, () => patch(label('b'))],
    ['a large patch of a large object, once', 1, () => patch({ data, ...label('c') })],
    ['a patch that changes nothing', 1, () => patch({})],
    ['a large update, once', 1, () => send('PUT', path, { body: { metadata: { name: 'large' }, data } })],
    ['a small update of a large object', 1, () => send('PUT', path, { body: { metadata: { name: 'large' } } })],
    ['the deletion of a large object', 1, () => send('DELETE', path)],
    ['no deletion of a small object', 0, () => send('DELETE', `${CONFIG_MAPS}/small`)],
    ['no read', 0, () => send('GET', path)],
  ])('is taken by %s', async (_, places, run) => {
    expect(await placesFor(run)).toBe(places);
  });

  it('is taken once by a write that has to be tried again', async () => {
    const count = 4;
    const places = await placesFor(() =>
      Promise.all(Array.from({ length: count }, (_, index) => patch({ metadata: { labels: { [`l${index}`]: 'a' } } }))),
    );
    expect(places).toBe(count);
    const { body } = await send('GET', path);
    expect(Object.keys(body.metadata.labels as object)).toHaveLength(count);
  });
});
