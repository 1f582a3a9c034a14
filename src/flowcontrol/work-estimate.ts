import { ONE_SEAT, type WorkEstimate } from './flow-request';
import type { FlowAttributes } from './matching';

/** Objects that one seat is for. */
const OBJECTS_PER_SEAT = 100;
const WATCHERS_PER_SEAT = 10;
/** What a seat takes to tell its watchers. */
const EVENT_MS = 5;
const MAX_SEATS = 10;

/** What memory knows of how much a request will take. */
export interface WorkSources<Attributes extends FlowAttributes = FlowAttributes> {
  /** Objects that a list or a watch with initial events looks at. */
  readonly listed: (attributes: Attributes) => number;
  /** Watches that hear of a write. */
  readonly watchers: (attributes: Attributes) => number;
}

const WRITES: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete']);

/** A list is as wide as it is long; a write keeps its seats while its watchers are told. `mostSeats`: of its level. */
export function estimateWork<Attributes extends FlowAttributes>(
  attributes: Attributes,
  sources: WorkSources<Attributes> | undefined,
  mostSeats: number,
): WorkEstimate {
  const { verb, isResourceRequest, name } = attributes;
  if (sources === undefined || !isResourceRequest) return ONE_SEAT;
  if (verb === 'list' || verb === 'watch') return name === '' ? wide(sources.listed(attributes), mostSeats) : ONE_SEAT;
  return WRITES.has(verb) ? told(sources.watchers(attributes), mostSeats) : ONE_SEAT;
}

function wide(objects: number, mostSeats: number): WorkEstimate {
  const seats = Math.min(Math.ceil(objects / OBJECTS_PER_SEAT), MAX_SEATS, mostSeats);
  return seats <= 1 ? ONE_SEAT : { seats, finalSeats: 0, finalMs: 0 };
}

function told(watchers: number, mostSeats: number): WorkEstimate {
  if (watchers < WATCHERS_PER_SEAT) return ONE_SEAT;
  const wanted = Math.ceil(watchers / WATCHERS_PER_SEAT);
  const finalSeats = Math.min(wanted, MAX_SEATS, mostSeats);
  return { seats: 1, finalSeats, finalMs: (wanted * EVENT_MS) / finalSeats };
}
