import { explainListenFailure } from './listen-failure';

const failure = (code: string): Error => Object.assign(new Error(`listen ${code}`), { code });

it.each([
  ['EADDRINUSE', /^port 6443 of 127\.0\.0\.1 is taken by another process: .*--secure-port/],
  ['EACCES', /^port 6443 of 127\.0\.0\.1 may not be opened by this user: .*--secure-port/],
  ['EADDRNOTAVAIL', /^127\.0\.0\.1 is no address of this machine: .*--bind-address/],
])('a port that cannot be had (%s) is named, with what to do', (code, message) => {
  expect(explainListenFailure(failure(code), '127.0.0.1', 6443)).toMatchObject({
    message: expect.stringMatching(message) as string,
    cause: { code },
  });
});

it('another failure stays as it is', () => {
  const error = failure('EMFILE');
  expect(explainListenFailure(error, '127.0.0.1', 6443)).toBe(error);
});
