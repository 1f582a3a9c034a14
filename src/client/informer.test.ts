import { StatusError } from '../api/errors/status-error';
import type { KubeObject } from '../api/object';
import type { ListOf, WatchEvent } from './api-client';
import { runInformer, type InformerOptions } from './informer';

function pod(name: string, resourceVersion: string, uid = `uid-of-${name}`): KubeObject {
  return { metadata: { namespace: 'n', name, uid, resourceVersion } };
}

const bookmark = (resourceVersion: string): WatchEvent => ({
  type: 'BOOKMARK',
  object: { metadata: { resourceVersion } },
});

type Listed = readonly ListOf[] | Error;
type Watched = readonly WatchEvent[] | Error;

/** A server that answers lists and watches with what the test says, in turn; the run ends when it has no more to say. */
async function run(script: readonly ({ list: Listed } | { watch: Watched })[], options: InformerOptions = {}) {
  const end = new AbortController();
  const asked: string[] = [];
  const told: string[] = [];
  const left = [...script];
  const next = <Kind extends 'list' | 'watch'>(kind: Kind): unknown => {
    const step = left[0];
    if (step === undefined) {
      end.abort();
      throw new Error('the run is over');
    }
    if (!(kind in step)) throw new Error(`the informer asked for a ${kind}, and not as the test expects`);
    left.shift();
    const response = (step as Record<Kind, unknown>)[kind];
    if (response instanceof Error) throw response;
    return response;
  };
  const name = ({ metadata }: KubeObject): string => `${metadata.name}@${metadata.resourceVersion}`;
  await runInformer(
    {
      async *pages() {
        asked.push('list');
        yield* next('list') as readonly ListOf<never>[];
      },
      async *watch(path) {
        asked.push(`watch from ${new URL(path, 'http://server').searchParams.get('resourceVersion')}`);
        yield* next('watch') as readonly WatchEvent[];
      },
    },
    '/api/v1/pods',
    {
      changed: (object) => told.push(`changed ${name(object)}`),
      deleted: (object) => told.push(`deleted ${name(object)}`),
      synced: () => told.push('synced'),
      failed: (error) => {
        if (!end.signal.aborted) told.push(`failed: ${(error as Error).message}`);
      },
    },
    end.signal,
    options,
  );
  return { asked, told };
}

const list = (resourceVersion: string, ...items: KubeObject[]): { list: Listed } => ({
  list: [{ metadata: { resourceVersion }, items }],
});

beforeEach(() => jest.useFakeTimers({ advanceTimers: 100, doNotFake: ['nextTick', 'performance'] }));
afterEach(() => jest.useRealTimers());

describe('an informer', () => {
  it('lists all pages, then follows from the version of the list', async () => {
    const pages = [
      { metadata: { resourceVersion: '7', continue: 'more' }, items: [pod('a', '3')] },
      { metadata: { resourceVersion: '7' }, items: [pod('b', '5')] },
    ];
    const changes: Watched = [
      { type: 'MODIFIED', object: pod('a', '8') },
      { type: 'DELETED', object: pod('b', '9') },
    ];
    const { asked, told } = await run([{ list: pages }, { watch: changes }]);
    expect(asked).toEqual(['list', 'watch from 7', 'watch from 9']);
    expect(told).toEqual(['changed a@3', 'changed b@5', 'synced', 'changed a@8', 'deleted b@9']);
  });

  it('goes on after a lost connection where it was, bookmarks included', async () => {
    const { asked, told } = await run([
      list('7'),
      { watch: [bookmark('20')] },
      { watch: new Error('connection reset') },
      { watch: [{ type: 'ADDED', object: pod('c', '21') }] },
    ]);
    expect(asked).toEqual(['list', 'watch from 7', 'watch from 20', 'watch from 20', 'watch from 21']);
    expect(told).toEqual(['synced', 'failed: connection reset', 'changed c@21']);
  });

  it('lists again when the server has lost the history, and tells what has come, changed and gone meanwhile', async () => {
    const expired: Watched = [
      { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } as never },
    ];
    const { asked, told } = await run([
      list('7', pod('same', '1'), pod('gone', '2'), pod('other', '3'), pod('changed', '4')),
      { watch: expired },
      list('30', pod('same', '1'), pod('other', '25', 'another-uid'), pod('changed', '26'), pod('new', '27')),
    ]);
    expect(asked).toEqual(['list', 'watch from 7', 'list', 'watch from 30']);
    expect(told.slice(told.indexOf('synced') + 1)).toEqual([
      'deleted other@3',
      'changed other@25',
      'changed changed@26',
      'changed new@27',
      'deleted gone@2',
    ]);
  });

  it('tries a failed list again', async () => {
    const { asked, told } = await run([{ list: new StatusError(503, undefined, 'not yet') }, list('7')]);
    expect(asked).toEqual(['list', 'list', 'watch from 7']);
    expect(told).toEqual(['failed: not yet', 'synced']);
  });

  it('tells what an earlier run knew and is gone', async () => {
    const { told } = await run([list('7')], { known: new Map([['n/old', pod('old', '1')]]) });
    expect(told).toEqual(['deleted old@1', 'synced']);
  });

  it('keeps of an object what it is told to keep', async () => {
    const known = new Map<string, KubeObject>();
    const keep = ({ metadata: { name = '' } }: KubeObject): KubeObject => ({ metadata: { name } });
    await run([list('7', pod('a', '3'))], { known, keep });
    expect([...known]).toEqual([['n/a', { metadata: { name: 'a' } }]]);
  });
});
