const { median } = require('./statistics');

/** What was measured, round by round. */
class Results {
  constructor() {
    this.samples = [];
  }

  add(sample) {
    this.samples.push(sample);
  }

  /** One row per scenario: for each server the medians over the rounds, with the spread of the value. */
  summary() {
    const rows = new Map();
    for (const { id, family, title, unit, better, server } of this.samples) {
      const row = rows.get(id) ?? { id, family, title, unit, better, servers: {} };
      rows.set(id, row);
      row.servers[server] ??= this.summarize(id, server);
    }
    return [...rows.values()].map(withRatio);
  }

  summarize(id, server) {
    const samples = this.samples.filter((sample) => sample.id === id && sample.server === server);
    const values = samples.map(({ value }) => value);
    const middle = (field) => {
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
function withRatio(row) {
  const { sternpost, 'kube-apiserver': peer } = row.servers;
  if (sternpost === undefined || peer === undefined) return row;
  const ratio = row.better === 'lower' ? peer.value / sternpost.value : sternpost.value / peer.value;
  return { ...row, ratio };
}

module.exports = { Results };
