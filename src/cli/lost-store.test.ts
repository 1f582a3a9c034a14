import { lostStore } from './lost-store';

describe('a store that is lost', () => {
  it('ends what waits for it with its error', async () => {
    const { lost, onStoreLost } = lostStore();
    const ended = Promise.race([lost, new Promise(() => undefined)]);
    onStoreLost(new Error('restart the server'));
    await expect(ended).rejects.toThrow('restart the server');
  });

  it('ends also what begins to wait afterwards', async () => {
    const { lost, onStoreLost } = lostStore();
    onStoreLost(new Error('restart the server'));
    await new Promise(setImmediate);
    await expect(lost).rejects.toThrow('restart the server');
  });
});
