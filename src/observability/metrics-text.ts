import type { MetricObject, Registry } from 'prom-client';
import { Turn } from '../async/turn';
import type { PrintsSeries } from './series';

/** Text is turned into bytes when there is so much of it. */
const PIECE_CHARACTERS = 64 * 1024;

/** What the registry's own `metrics()` gives, some milliseconds at a time: there may be thousands of series. */
export async function printMetrics(registry: Registry): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const turn = new Turn('printing metrics');
  let text = '';
  for (const metric of registry.getMetricsAsArray() as readonly (MetricObject & Partial<PrintsSeries>)[]) {
    if (metric.lines === undefined) {
      text += `${await registry.getSingleMetricAsString(metric.name)}\n`;
    } else {
      text += `# HELP ${metric.name} ${metric.help}\n# TYPE ${metric.name} ${String(metric.type)}\n`;
      for (const lines of metric.lines()) {
        text += `${lines}\n`;
        if (text.length > PIECE_CHARACTERS) {
          pieces.push(Buffer.from(text));
          text = '';
        }
        if (turn.isOver) await turn.next();
      }
    }
    text += '\n';
  }
  return Buffer.concat([...pieces, Buffer.from(text)]);
}
