import * as fc from 'fast-check';
import { isList, isObject } from '../apply/members';
import { decisions, objectsOf, REAL_KINDS, variantOf } from '../apply/real-objects.fixture';
import type { JsonValue } from '../object';
import { jsonDiff, mergeDiff, strategicDiff } from './diff.fixture';
import { applyJsonPatch } from './json-patch';
import { inBothForms } from '../steps/both-forms.fixture';
import * as mergeInSteps from '../steps/generated/patch/merge-patch';
import * as strategicInSteps from '../steps/generated/patch/strategic-merge';
import * as merge from './merge-patch';
import * as strategic from './strategic-merge';

const applyMergePatch = inBothForms(merge.applyMergePatch, mergeInSteps.applyMergePatch);
const applyStrategicMergePatch = inBothForms(
  strategic.applyStrategicMergePatch,
  strategicInSteps.applyStrategicMergePatch,
);

/** Patches on objects of every built-in kind. `STERNPOST_LAW_RUNS` raises the number of runs. */

const RUNS = { numRuns: Number(process.env.STERNPOST_LAW_RUNS ?? 200) };

/** A kind, and four objects of it that have much in common. */
const variants = fc.constantFrom(...REAL_KINDS).chain((kind) =>
  fc
    .tuple(objectsOf(kind, { identity: 'patchMergeKey' }), fc.tuple(decisions, decisions, decisions, fc.nat(1)))
    .map(([object, [one, two, three, whole]]) => ({
      type: kind.type,
      before: variantOf(kind.type, object, one, true),
      after: whole === 1 ? object : variantOf(kind.type, object, two, true),
      other: variantOf(kind.type, object, three, true),
    })),
);

/** Sends a patch through JSON, as a client does. */
function sent<T extends JsonValue>(patch: T): T {
  return JSON.parse(JSON.stringify(patch)) as T;
}

/** A value with its lists sorted. */
function unordered(value: unknown): unknown {
  if (isList(value)) return value.map(unordered).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [name, unordered(member)] as const);
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
}

describe('of two objects of a built-in kind', () => {
  it('the strategic difference leads from one to the other, and again nowhere else', () => {
    fc.assert(
      fc.property(variants, ({ type, before, after }) => {
        const patch = sent(strategicDiff(type, before, after));
        const text = JSON.stringify([before, patch]);
        const patched = applyStrategicMergePatch(type, before, patch);
        expect(patched).toEqual(after);
        expect(applyStrategicMergePatch(type, patched, patch)).toEqual(after);
        expect(JSON.stringify([before, patch])).toBe(text);
      }),
      RUNS,
    );
  });

  it('the merge difference and the JSON difference lead from one to the other', () => {
    fc.assert(
      fc.property(variants, ({ before, after }) => {
        expect(applyMergePatch(before, sent(mergeDiff(before, after)))).toEqual(after);
        expect(applyJsonPatch(before, sent(jsonDiff(before, after)))).toEqual(after);
      }),
      RUNS,
    );
  });

  it('the difference of three takes what was given up, sets what is wanted and keeps the rest', () => {
    const deletions = { deletions: true, changes: false };
    const changes = { deletions: false, changes: true };
    fc.assert(
      fc.property(variants, ({ type, before: last, after: wanted, other }) => {
        // What others have done since the last apply.
        const live = applyStrategicMergePatch(type, last, sent(strategicDiff(type, last, other, changes)));
        const giveUp = sent(strategicDiff(type, last, wanted, deletions));
        const set = sent(strategicDiff(type, live, wanted, changes));
        const reduced = applyStrategicMergePatch(type, live, giveUp);
        const patched = applyStrategicMergePatch(type, reduced, set);
        const rest = sent(strategicDiff(type, patched, wanted, changes));
        expect(unordered(applyStrategicMergePatch(type, patched, rest))).toEqual(unordered(patched));
        expect(applyStrategicMergePatch(type, patched, giveUp)).toEqual(patched);
        const replaces = JSON.stringify(set).includes('$retainKeys');
        if (!replaces) expect(strategicDiff(type, reduced, patched, deletions)).toEqual({});
      }),
      RUNS,
    );
  });
});
