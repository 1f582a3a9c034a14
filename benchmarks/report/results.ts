import type { Measured, ScenarioTitle } from '../scenarios/scenario';
import { median } from './statistics';

/** One measurement of one round. */
export interface Sample extends ScenarioTitle, Measured {
  readonly family: string;
  readonly server: string;
  readonly round: number;
  readonly better: 'higher' | 'lower';
  readonly value: number;
}

/** What one server did over the rounds. */
export interface Summary {
  readonly value: number;
  readonly lowest: number;
  readonly highest: number;
  readonly rounds: number;
  readonly p50: number | undefined;
  readonly p99: number | undefined;
  readonly cpuMicros: number | undefined;
}

/** A scenario with what each server did in it. */
export interface Row extends Required<ScenarioTitle> {
  readonly family: string;
  readonly servers: Readonly<Record<string, Summary>>;
  /** How many times better Sternpost is than its peer. */
  readonly ratio?: number;
}

/** What was measured, round by round. */
export class Results {
  private readonly samples: Sample[] = [];

  add(sample: Sample): void {
    this.samples.push(sample);
  }

  /** One row per scenario: for each server the medians over the rounds, with the spread of the value. */
  summary(): readonly Row[] {
    const rows = new Map<string, Row & { readonly servers: Record<string, Summary> }>();
    for (const { id, family, title, unit, better, server } of this.samples) {
      const row = rows.get(id) ?? { id, family, title, unit, better, servers: {} };
      rows.set(id, row);
      row.servers[server] ??= this.summarize(id, server);
    }
    return [...rows.values()].map(withRatio);
  }

  private summarize(id: string, server: string): Summary {
    const samples = this.samples.filter((sample) => sample.id === id && sample.server === server);
    const values = samples.map(({ value }) => value);
    const middle = (field: 'p50' | 'p99' | 'cpuMicros') => {
      const known = samples.map((sample) => sample[field]).filter((value) => value !== undefined);
      return known.length === 0 ? undefined : median(known);
    };
    return {
      value: median(values),
      lowest: Math.min(...values),
      highest: Math.max(...values),
      rounds: values.length,
      p50: middle('p50'),
      p99: middle('p99'),
      cpuMicros: middle('cpuMicros'),
    };
  }
}

/** How many times better Sternpost is: above 1 is better, whichever way the unit counts. */
function withRatio(row: Row): Row {
  const { sternpost, 'kube-apiserver': peer } = row.servers;
  if (sternpost === undefined || peer === undefined) return row;
  const ratio = row.better === 'lower' ? peer.value / sternpost.value : sternpost.value / peer.value;
  return { ...row, ratio };
}
