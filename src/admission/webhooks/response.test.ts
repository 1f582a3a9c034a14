import { atOnce } from '../../api/parts';
import { readResponse, type ReviewQuestion, type ReviewResponse } from './response';

const stable: ReviewQuestion = { uid: 'u', version: 'v1', type: 'admit' };
const beta: ReviewQuestion = { ...stable, version: 'v1beta1' };

const PATCH = Buffer.from('[{}]').toString('base64');

function read(question: ReviewQuestion, response: object | null, review: object = {}): ReviewResponse {
  const typed = { apiVersion: `admission.k8s.io/${question.version}`, kind: 'AdmissionReview' };
  const text = JSON.stringify({ ...typed, response, ...review });
  return atOnce(readResponse(Buffer.from(text), question));
}

function problemOf(run: () => unknown): string {
  try {
    run();
    return 'none';
  } catch (error) {
    return (error as Error).message;
  }
}

describe('an answer in v1', () => {
  it.each([
    ['without a uid', { allowed: true }, {}, 'expected response.uid="u", got ""'],
    [
      'without a kind',
      { uid: 'u' },
      { kind: '' },
      'expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview',
    ],
    ['without a version', { uid: 'u' }, { apiVersion: '' }, 'expected webhook response of admission.k8s.io/v1'],
    ['of another kind', { uid: 'u' }, { kind: 'Pod' }, 'no kind "Pod" is registered for version "admission.k8s.io/v1"'],
    ['of another version', { uid: 'u' }, { apiVersion: 'admission.k8s.io/v1beta1' }, 'unknown conversion'],
    ['without a response', null, {}, 'webhook response was absent'],
    [
      'with a patch of no type',
      { uid: 'u', patch: PATCH },
      {},
      'webhook returned response.patch but not response.patchType',
    ],
    [
      'with a type of no patch',
      { uid: 'u', patchType: 'JSONPatch' },
      {},
      'returned response.patchType but not response.patch',
    ],
    ['with an empty type', { uid: 'u', patch: PATCH, patchType: '' }, {}, 'invalid response.patchType of ""'],
    ['with a patch that is no base64 text', { uid: 'u', patch: '%%%%', patchType: 'x' }, {}, 'illegal base64 data'],
    ['with a patch that ends too early', { uid: 'u', patch: 'W3t9X', patchType: 'x' }, {}, 'illegal base64 data'],
    ['with a code that is none', { uid: 'u', status: { code: '400' } }, {}, 'response.status.code is no integer'],
    ['with warnings that are no texts', { uid: 'u', warnings: [1] }, {}, 'response.warnings is no list of texts'],
    ['with annotations that are no texts', { uid: 'u', auditAnnotations: { a: 1 } }, {}, 'response.auditAnnotations'],
  ])('%s is none', (_what, response, review, message) => {
    expect(problemOf(() => read(stable, response, review))).toContain(message);
  });

  it('says what is allowed, changed, told and noted', () => {
    const status = {
      code: 422,
      reason: 'Invalid',
      message: 'm',
      details: { name: 'n', causes: [{ field: 'f', x: 1 }] },
    };
    const fields = { warnings: ['w'], auditAnnotations: { a: 'b' }, patch: PATCH, patchType: 'JSONPatch' };
    const response = read(stable, { uid: 'u', allowed: true, status, ...fields });
    expect({ ...response, patch: response.patch.toString() }).toEqual({
      ...fields,
      allowed: true,
      patch: '[{}]',
      status: { ...status, details: { name: 'n', causes: [{ field: 'f' }] } },
    });
  });

  it('of a validating webhook may have no patch', () => {
    const validating = { ...stable, type: 'validating' } as const;
    expect(problemOf(() => read(validating, { uid: 'u', patch: PATCH }))).toBe(
      'validating webhook may not return response.patch',
    );
    expect(problemOf(() => read(validating, { uid: 'u', patchType: '' }))).toBe(
      'validating webhook may not return response.patchType',
    );
  });
});

describe('an answer in v1beta1', () => {
  it('may leave out what it is and what it answers', () => {
    expect(read(beta, { allowed: true }, { apiVersion: undefined, kind: undefined }).allowed).toBe(true);
    expect(read(beta, { uid: 'other', allowed: true }).allowed).toBe(true);
  });

  it('has JSON patches, whatever it calls them, and none where it only validates', () => {
    expect(read(beta, { patch: PATCH, patchType: 'x' }).patchType).toBe('JSONPatch');
    expect(read({ ...beta, type: 'validating' }, { patch: PATCH }).patch).toHaveLength(0);
  });

  it('of v1 is none', () => {
    expect(problemOf(() => read(beta, {}, { apiVersion: 'admission.k8s.io/v1' }))).toContain('unknown conversion');
  });
});
