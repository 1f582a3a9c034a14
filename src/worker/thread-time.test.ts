import { ownTask, processorTimeOf } from './thread-time';

const onLinux = process.platform === 'linux' ? it : it.skip;

describe('the processor time of a thread', () => {
  onLinux('grows with what the thread does', () => {
    const task = ownTask() ?? '';
    const before = processorTimeOf(task) ?? NaN;
    let after = before;
    for (let index = 0; after === before && index < 1e9; index += 1)
      if (index % 1e6 === 0) after = processorTimeOf(task) ?? NaN;
    expect(after).toBeGreaterThan(before);
  });

  it('is not known of a thread that is not there', () => {
    expect(processorTimeOf('0/task/0')).toBeUndefined();
  });
});
