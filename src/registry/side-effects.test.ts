import type { SideEffects } from './side-effects';
import { withSideEffects } from './side-effects';

const object = { metadata: { name: 'a' } };
const context = { signal: new AbortController().signal, dryRun: false };

function recorded(): { readonly effects: SideEffects; readonly calls: readonly string[] } {
  const calls: string[] = [];
  const note = async (what: string): Promise<void> => void calls.push(what);
  const begin: SideEffects['begin'] = async (sent) => ({
    object: { ...sent, taken: 1 },
    commit: () => note('commit'),
    rollback: () => note('rollback'),
  });
  return { effects: { begin, removed: () => note('removed') }, calls };
}

describe('side effects', () => {
  it('are committed with the write, which sees what was taken', async () => {
    const { effects, calls } = recorded();
    const write = jest.fn(async () => true);
    await withSideEffects(effects, object, undefined, context, write, (outcome) => outcome);
    expect(write).toHaveBeenCalledWith({ ...object, taken: 1 });
    expect(calls).toEqual(['commit']);
  });

  it('are rolled back when the write lost', async () => {
    const { effects, calls } = recorded();
    await withSideEffects(
      effects,
      object,
      undefined,
      context,
      async () => false,
      (outcome) => outcome,
    );
    expect(calls).toEqual(['rollback']);
  });

  it('are rolled back when the write failed', async () => {
    const { effects, calls } = recorded();
    const write = async (): Promise<boolean> => Promise.reject(new Error('no store'));
    await expect(withSideEffects(effects, object, undefined, context, write, () => true)).rejects.toThrow('no store');
    expect(calls).toEqual(['rollback']);
  });
});
