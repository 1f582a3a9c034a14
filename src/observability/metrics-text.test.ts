import { Counter, Gauge, Registry } from 'prom-client';
import { printMetrics } from './metrics-text';
import { HistogramSeries, SeriesCounter, SeriesHistogram } from './series';

function sorted(text: string): readonly string[] {
  return text.split('\n').filter(Boolean).sort();
}

describe('the text of the metrics', () => {
  it("is what the registry's own print has", async () => {
    const registry = new Registry();
    new Counter({ name: 'plain_total', help: 'A counter.', labelNames: ['a'], registers: [registry] }).inc({ a: 'b' });
    new Gauge({ name: 'gauge', help: 'A gauge.', registers: [registry] }).set(3);
    const histogram = new HistogramSeries({ verb: 'GET', path: '"\\\n' }, [0.1, 1]);
    const bare = new HistogramSeries({}, [0.1, 1]);
    for (const value of [0.05, 0.5, 5]) {
      histogram.observe(value);
      bare.observe(value);
    }
    const options = { help: 'Series.', labelNames: ['verb', 'path'], registry };
    const bounds = [0.1, 1];
    new SeriesHistogram({ ...options, name: 'histogram', bounds, series: () => [histogram, bare] });
    new SeriesCounter({ ...options, name: 'c_total', series: () => [{ labels: { verb: 'x' }, value: 7 }] });
    new SeriesCounter({ ...options, name: 'none_total', series: () => [] });
    const text = String(await printMetrics(registry));
    expect(sorted(text)).toEqual(sorted(await registry.metrics()));
    expect(text).toContain('# TYPE histogram histogram\nhistogram_bucket{verb="GET",path="\\"\\\\\\n",le="0.1"} 1\n');
    expect(text).toContain('\nhistogram_bucket{le="+Inf"} 3\nhistogram_sum 5.55\nhistogram_count 3\n');
  });

  it('lets others have their turn, however many series there are', async () => {
    const registry = new Registry();
    const series = Array.from({ length: 2000 }, (_, index) => ({ labels: { index: String(index) }, value: index }));
    new SeriesCounter({ name: 'many_total', help: 'Many.', labelNames: ['index'], registry, series: () => series });
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => ++now);
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const text = String(await printMetrics(registry));
    isDone = true;
    jest.restoreAllMocks();
    expect(text.match(/^many_total\{/gm)).toHaveLength(2000);
    expect(turns).toBeGreaterThan(100);
  });
});
