import { appliedField, TOKEN_FIELD, type Fields, type WriteCall } from './history';
import type { RealTime } from './real-time';
import { sameFields, type Timeline, type TimelineEvent } from './timeline';

/**
 * Every acknowledged write is in the truth once, with the effect it had to have on the version before it; every refused
 * one is not; and nothing is there that nobody wrote.
 */
export function checkWrites(timeline: Timeline, writes: readonly WriteCall[], realTime: RealTime): readonly string[] {
  const owners = new Map(writes.map((write) => [write.fields[TOKEN_FIELD], write]));
  const deletes = writes.filter(({ verb }) => verb === 'delete');
  const problems: string[] = [];
  const effects = new Map<WriteCall, TimelineEvent>();
  for (const event of timeline.events) {
    problems.push(...checkStep(event));
    const owner = event.type === 'put' ? owners.get(event.fields[TOKEN_FIELD]) : deleterOf(event, deletes);
    if (owner === undefined) {
      problems.push(`revision ${event.revision} of ${event.key} was written by nobody`);
      continue;
    }
    if (event.type === 'put' && effects.has(owner)) {
      problems.push(`${describe(owner)} happened twice: at ${effects.get(owner)?.revision} and at ${event.revision}`);
    }
    effects.set(owner, event);
    if (owner.outcome.type === 'refused') {
      problems.push(`${describe(owner)} was refused (${owner.outcome.reason}), but happened at ${event.revision}`);
    }
    problems.push(...checkEffect(owner, event));
    realTime.happenedAfter(event.index, owner.calledAt, `${describe(owner)} was sent then`);
    if (owner.outcome.type === 'done') {
      realTime.happenedBefore(event.index, owner.returnedAt, `${describe(owner)} was acknowledged then`);
    }
  }
  for (const write of writes) {
    problems.push(...checkResponse(write, effects.get(write)), ...checkRefusal(timeline, write, realTime));
  }
  return problems;
}

function describe({ client, verb, key, fields, base }: WriteCall): string {
  return `${client}'s ${verb} of ${key} (${fields[TOKEN_FIELD] ?? `at ${base ?? 'any version'}`})`;
}

/** The write that deleted this: one that was told so, else one that may have. */
function deleterOf(event: TimelineEvent, deletes: readonly WriteCall[]): WriteCall | undefined {
  const candidates = deletes.filter(
    ({ key, base }) => key === event.key && (base ?? event.previous?.revision) === event.previous?.revision,
  );
  return (
    candidates.find(({ outcome }) => outcome.type === 'done' && outcome.uid === event.uid) ??
    candidates.find(({ outcome }) => outcome.type === 'unknown')
  );
}

function checkStep({ type, key, revision, uid, previous }: TimelineEvent): readonly string[] {
  if (previous === undefined)
    return type === 'delete' ? [`revision ${revision} deletes ${key}, which is not there`] : [];
  return previous.uid === uid ? [] : [`revision ${revision} puts another object in the place of ${key}`];
}

function checkEffect(write: WriteCall, { type, key, revision, fields, previous }: TimelineEvent): readonly string[] {
  const problems: string[] = [];
  if (key !== write.key) problems.push(`${describe(write)} changed ${key}`);
  if (write.verb === 'create' && previous !== undefined) {
    problems.push(`${describe(write)} overwrote revision ${previous.revision}`);
  }
  const creates = write.verb === 'create' || write.verb === 'apply';
  if (!creates && previous === undefined) problems.push(`${describe(write)} created it at ${revision}`);
  if (write.base !== undefined && previous?.revision !== write.base) {
    problems.push(`${describe(write)} insisted on ${write.base}, but replaced ${previous?.revision ?? 'nothing'}`);
  }
  if (type === 'put' && !sameFields(fields, resultOf(write, previous?.fields ?? {}))) {
    problems.push(`${describe(write)} left something else behind at ${revision}`);
  }
  return problems;
}

/** What a put makes of the fields before it. */
function resultOf({ verb, client, fields }: WriteCall, before: Fields): Fields {
  switch (verb) {
    case 'patch':
      return { ...before, ...fields };
    case 'apply': {
      const { [appliedField(client)]: _, ...others } = before;
      return { ...others, ...fields };
    }
    case 'create':
    case 'update':
    case 'delete':
      return fields;
  }
}

function checkResponse(write: WriteCall, effect: TimelineEvent | undefined): readonly string[] {
  const { outcome } = write;
  if (outcome.type !== 'done') return [];
  if (effect === undefined) return [`${describe(write)} was acknowledged, but is lost`];
  if (outcome.revision !== undefined && outcome.revision !== effect.revision) {
    return [`${describe(write)} was acknowledged as ${outcome.revision}, but is ${effect.revision}`];
  }
  if (outcome.uid !== effect.uid || !sameFields(outcome.fields ?? effect.fields, effect.fields)) {
    return [`${describe(write)} was answered with another object than ${effect.revision}`];
  }
  return [];
}

/** There was a reason to refuse it, at some moment between call and return. */
function checkRefusal(timeline: Timeline, write: WriteCall, realTime: RealTime): readonly string[] {
  const { outcome, key, base } = write;
  if (outcome.type !== 'refused') return [];
  switch (outcome.reason) {
    case 'conflict': {
      // Without a base, a conflict says only that others were at it; kube-apiserver's words for a delete say so too.
      if (base === undefined) return [];
      const newer = timeline.nextOf(key, base);
      if (newer === undefined) return [`${describe(write)} was refused, but ${base} was the newest version`];
      realTime.happenedBefore(newer.index, write.returnedAt, `${describe(write)} conflicted with it then`);
      return [];
    }
    case 'exists':
    case 'missing': {
      const spans = outcome.reason === 'exists' ? timeline.livesOf(key) : timeline.gapsOf(key);
      realTime.whenKnown(() =>
        spans.some(({ from, until }) =>
          realTime.mayHaveStood(from?.index, until?.index, write.calledAt, write.returnedAt),
        )
          ? []
          : [`${describe(write)} was refused (${outcome.reason}) without reason`],
      );
      return [];
    }
  }
}
