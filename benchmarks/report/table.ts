import type { Row } from './results';

/** The rows as a Markdown table, with columns lined up for a terminal. */
export function printTable(rows: readonly Row[]): string {
  const peer = rows.some(({ servers }) => servers['kube-apiserver'] !== undefined);
  const head = [
    'what',
    'sternpost',
    ...(peer ? ['kube-apiserver', 'times better'] : []),
    'spread',
    'p50 ms',
    'p99 ms',
    ...(peer ? ['peer p99'] : []),
    'CPU us',
  ];
  const lines = rows.flatMap(withEtcd3).map(({ title, unit, servers, ratio }): string[] => {
    const own = servers['sternpost'];
    const other = servers['kube-apiserver'];
    return [
      title,
      `${round(own?.value)} ${unit}`,
      ...(peer ? [round(other?.value), ratio === undefined ? '' : ratio.toFixed(2)] : []),
      own === undefined ? '' : `${round(own.lowest)}-${round(own.highest)}`,
      round(own?.p50, 2),
      round(own?.p99, 2),
      ...(peer ? [round(other?.p99, 2)] : []),
      round(own?.cpuMicros),
    ];
  });
  const widths = head.map((_, column) => Math.max(...[head, ...lines].map((line) => (line[column] ?? '').length)));
  const print = (line: readonly string[]) =>
    `| ${line.map((cell, column) => pad(cell, widths[column] ?? 0, column > 0)).join(' | ')} |\n`;
  const rule = `|${widths.map((width, column) => `${'-'.repeat(width + 1)}${column > 0 ? ':' : '-'}`).join('|')}|\n`;
  return print(head) + rule + lines.map(print).join('');
}

/** What the server does over etcd3 (`--etcd3`) is a row of its own. */
function withEtcd3(row: Row): readonly Row[] {
  const { 'sternpost, etcd3': etcd3 } = row.servers;
  if (etcd3 === undefined) return [row];
  const { ratio: _ratio, ...own } = row;
  return [row, { ...own, title: `${row.title}, over etcd3`, servers: { sternpost: etcd3 } }];
}

function pad(cell: string, width: number, right: boolean): string {
  return right ? cell.padStart(width) : cell.padEnd(width);
}

/** Three significant digits or whole numbers; or so many digits, of what is not too small for them. */
export function round(value: number | undefined, digits?: number): string {
  if (value === undefined) return '';
  if (value === 0) return '0';
  if (digits !== undefined) {
    const least = 10 ** -digits;
    return value < least ? `<${least}` : value.toFixed(digits);
  }
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);
}
